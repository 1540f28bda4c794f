// What the views share: the names of the site, links to its other views, and rankings by one metric.
"use strict";
const makeKit = (content, load, link) => {
  const { element, known, number, rank } = parts;
  const detectors = content.detectors.map((each, d) => ({ ...each, d }));
  const series = content.series.map(([dataset, events, agreement, file, page], i) =>
    ({ i, name: content.names[i], dataset, events, agreement, file, page }));
  const labels = new Map([...content.parts, ...content.metrics].map(({ name, label }) => [name, label]));
  const summaries = new Map(content.metrics.map(({ name, summary }) => [name, summary]));

  // Columns of tables
  const texts = (key, head, value, more = {}) => ({ key, head, value, text: true, ...more });
  const names = (key, head, value, more = {}) => texts(key, head, value, { rowHead: true, ...more });
  const numbers = (key, head, value, more = {}) => ({ key, head, value, ...more });
  const lows = (key, head, value, more = {}) => ({ key, head, value, low: true, ...more }); // the lowest come first

  // Links and pieces of text
  const anchor = (changes, text) => element("a", { href: link(changes) }, text);
  const elsewhere = { sort: "", q: "" };
  const detectorName = (d) => detectors[d]?.name ?? "all of a file"; // of a file that could not be read
  const toDetector = (d) =>
    detectors[d] ? anchor({ view: "detector", name: detectors[d].name, ...elsewhere }, detectors[d].name) : detectorName(d);
  const toSeries = (s) => anchor({ view: "series", name: series[s].name, ...elsewhere }, series[s].name);
  const title = (text, beside = "") =>
    element("h2", { class: "title" }, text, beside ? element("small", {}, ` ${beside}`) : null);
  const paragraph = (text, kind = null) => element("p", { class: kind }, text);
  const hint = (text) => paragraph(text, "hint");
  const section = (name, ...more) => element("section", { "aria-label": name }, element("h2", {}, name), ...more);

  // What an address asks for
  const found = (at, text) => !at.q || text.toLocaleLowerCase().includes(at.q.toLocaleLowerCase());
  const inData = (at, each) => !at.data || each.dataset === at.data;
  const metricAt = (at) => content.metrics.find((each) => each.name === at.metric) ?? content.metrics[0];

  async function rankingAt(at) {
    const dataset = content.datasets.find((each) => each.name === at.data);
    const both = dataset ? await load(dataset.file) : content.all;
    return both[at.by];
  }

  // The lines of a ranking by one metric, the best first; nothing where there is none.
  function standing(ranking, metric) {
    const of = ranking.trouble ? null : ranking.standings[ranking.metrics.indexOf(metric)];
    if (!of) return null;
    const best = ranking.detectors[of.mean.indexOf(Math.max(...of.mean))];
    const apart = new Map(of.pairs.flatMap(([a, b, p]) => (a === best ? [[b, p]] : b === best ? [[a, p]] : [])));
    const rows = ranking.detectors.map((d, i) => ({
      ...{ d, name: detectors[d].name, seconds: detectors[d].seconds, best: d === best, p: apart.get(d) ?? null },
      ...{ mean: of.mean[i], low: of.low[i], high: of.high[i], seeds: of.seeds[i] },
      ...{ rank: of.rank[i], average: of.average[i] },
    }));
    return { ...of, rows: rows.sort((a, b) => b.mean - a.mean) };
  }

  // Columns that several tables of standings have
  const span = ({ low, high }) => (known(low) ? `${number(low)} – ${number(high)}` : "too few series");
  const bySeed = lows("seeds", "± by seed", (row) => row.seeds, { kind: "soft" });
  const standingColumns = (rows) => [
    numbers("low", "95 % interval", (row) => row.low, { cell: (row) => (row.bound ? "" : span(row)), kind: "soft" }),
    ...(rows.some((row) => known(row.seeds)) ? [bySeed] : []),
  ];
  const rankColumn = (head) => lows("rank", head, (row) => row.rank, { cell: (row) => rank(row.rank) });
  const averageColumn = lows("average", "Average rank", (row) => row.average, { digits: 2 });

  return {
    ...{ summaries, aboutBounds: content.about_bounds },
    ...{ detectors, series, labels, texts, names, numbers, lows, anchor, detectorName, toDetector, toSeries },
    ...{ title, paragraph, hint, section, found, inData, metricAt, rankingAt, standing, span },
    ...{ standingColumns, rankColumn, averageColumn },
  };
};
