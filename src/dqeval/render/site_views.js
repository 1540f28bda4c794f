// The views of the site. Each takes where one is (`at`) and returns what is shown, perhaps after loading numbers.
"use strict";
const makeViews = (content, load, link, move) => {
  const { NONE, element, known, number, rank, chance, seconds, tint, tau, table, interval } = parts;
  const LEVEL = 0.05;
  const detectors = content.detectors;
  const series = content.series.map(([dataset, events, agreement, file, page], i) =>
    ({ i, name: content.names[i], dataset, events, agreement, file, page }));
  const labels = new Map([...content.parts, ...content.metrics].map(({ name, label }) => [name, label]));

  const anchor = (changes, text) => element("a", { href: link(changes) }, text);
  const toDetector = (d) => anchor({ view: "detector", name: detectors[d].name, sort: "", q: "" }, detectors[d].name);
  const toSeries = (s) => anchor({ view: "series", name: series[s].name, sort: "", q: "" }, series[s].name);
  const heading = (text) => element("h2", {}, text);
  const title = (text, ...beside) => element("h2", { class: "title" }, text, ...beside);
  const paragraph = (text, kind = null) => element("p", { class: kind }, text);
  const hint = (text) => paragraph(text, "hint");
  const section = (name, ...more) => element("section", { "aria-label": name }, heading(name), ...more);
  const found = (at, text) => !at.q || text.toLocaleLowerCase().includes(at.q.toLocaleLowerCase());
  const inData = (at, each) => !at.data || each.dataset === at.data;
  const fact = (name, value, more = "") =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value, more ? element("small", {}, ` ${more}`) : null));

  async function rankingAt(at) {
    const dataset = content.datasets.find((each) => each.name === at.data);
    const both = dataset ? await load(dataset.file) : content.all;
    return both[at.by];
  }

  // The lines of a ranking by one metric, the best first.
  function standing(ranking, metric) {
    const of = ranking.standings[ranking.metrics.indexOf(metric)];
    if (!of) return null;
    const best = ranking.detectors[of.mean.indexOf(Math.max(...of.mean))];
    const apart = new Map(of.pairs.flatMap(([a, b, p]) => (a === best ? [[b, p]] : b === best ? [[a, p]] : [])));
    const rows = ranking.detectors.map((d, i) => ({
      d, name: detectors[d].name, mean: of.mean[i], low: of.low[i], high: of.high[i], seeds: of.seeds[i], rank: of.rank[i],
      average: of.average[i], p: d === best ? null : apart.get(d), best: d === best, seconds: detectors[d].seconds,
    }));
    rows.sort((a, b) => b.mean - a.mean);
    return { ...of, rows, top: best };
  }

  const lowest = (rows) => Math.min(...rows.map((row) => row.low ?? row.mean));
  const highest = (rows) => Math.max(...rows.map((row) => row.high ?? row.mean));
  const span = ({ low, high }) => (known(low) ? `${number(low)} – ${number(high)}` : "too few series");

  // The leaderboard ------------------------------------------------------------------------------------------------

  function board(at, of) {
    const scale = [lowest(of.rows), highest(of.rows)];
    const alike = (row) => row.best || row.p >= LEVEL;
    const seeded = of.rows.some((row) => known(row.seeds));
    const timed = of.rows.some((row) => known(row.seconds));
    const told = (row) => (row.bound ? "" : row.best ? "best" : alike(row) ? `not told apart (p ${chance(row.p)})` : `p ${chance(row.p)}`);
    const plot = (row) => (row.bound ? "" : interval(row.low, row.mean, row.high, scale, alike(row) ? "alike" : ""));
    const columns = [
      { key: "rank", head: "#", low: true, value: (row) => row.rank, cell: (row) => (row.bound ? "" : rank(row.rank)), kind: "place" },
      { key: "name", head: "Detector", text: true, rowHead: true, value: (row) => row.name, cell: (row) => toDetector(row.d) },
      { key: "mean", head: labels.get(at.metric), value: (row) => row.mean, cell: (row) => element("b", {}, number(row.mean)) },
      { key: "plot", head: "", cell: plot, kind: "plot" },
      { key: "low", head: "95 % interval", value: (row) => row.low, cell: (row) => (row.bound ? "" : span(row)), kind: "soft" },
      ...(seeded ? [{ key: "seeds", head: "± by seed", low: true, value: (row) => row.seeds, kind: "soft" }] : []),
      { key: "average", head: "Average rank", low: true, value: (row) => row.average, digits: 2 },
      { key: "p", head: "Against the best", value: (row) => (row.best ? 2 : row.p), cell: told, text: true, kind: "soft" },
      ...(timed ? [{ key: "seconds", head: "Seconds a series", low: true, value: (row) => row.seconds, cell: (row) => seconds(row.seconds), kind: "soft" }] : []),
    ];
    const below = of.bounds.map(([d, mean]) => ({ d, mean, bound: true, kind: "bound", seeds: null, seconds: null }));
    const rows = of.rows.filter((row) => found(at, row.name));
    return table({ id: "board", label: `Ranking by ${labels.get(at.metric)}`, columns, rows, below, kind: "board",
      sort: at.sort || "-mean", press: (sort) => move({ sort }) });
  }

  function differences(of) {
    if (of.rows.length < 2) return [];
    const ranked = of.rows.map(({ name, average, d }) => ({ name, average, d })).sort((a, b) => a.average - b.average);
    const average = new Map(ranked.map((each) => [each.d, each.average]));
    const groups = of.groups.map((group) => group.map((d) => average.get(d)));
    return [section("Critical differences",
      diagram(ranked, groups, `Critical-difference diagram. ${of.tests}`),
      paragraph(of.tests),
      hint("A bar joins detectors no two of which differ by more than chance. Beside each name is its average rank; 1 is best."),
      pairs(of, ranked))];
  }

  function pairs(of, ranked) {
    const p = new Map(of.pairs.flatMap(([a, b, value]) => [[`${a} ${b}`, value], [`${b} ${a}`, value]]));
    const columns = [
      { key: "name", head: "Detector", text: true, rowHead: true, value: (row) => row.name },
      ...ranked.map((other) => ({ key: `d${other.d}`, head: other.name, value: (row) => p.get(`${row.d} ${other.d}`) ?? null,
        cell: (row) => (row.d === other.d ? NONE : chance(p.get(`${row.d} ${other.d}`))),
        style: (row) => (p.get(`${row.d} ${other.d}`) < LEVEL ? tint(1) : null) })),
    ];
    return element("details", {}, element("summary", {}, "p-values of all pairs"),
      table({ id: "pairs", label: "p-values of all pairs", columns, rows: ranked, kind: "small" }),
      hint("Wilcoxon's signed-rank test, corrected after Holm. Tinted: below 0.05."));
  }

  function everyMetric(at, ranking, of) {
    const value = (row, j) => ranking.standings[j].mean[ranking.detectors.indexOf(row.d)];
    const place = (row, j) => ranking.standings[j].rank[ranking.detectors.indexOf(row.d)];
    const n = ranking.detectors.length;
    const columns = [
      { key: "name", head: "Detector", text: true, rowHead: true, value: (row) => row.name, cell: (row) => toDetector(row.d) },
      ...ranking.metrics.map((metric, j) => ({ key: metric, head: labels.get(metric), value: (row) => value(row, j),
        cell: (row) => [element(place(row, j) === 1 ? "b" : "span", {}, number(value(row, j))), element("small", {}, ` ${rank(place(row, j))}`)],
        style: (row) => tint(n > 1 ? (n - place(row, j)) / (n - 1) : null) })),
    ];
    return section("Every metric",
      table({ id: "every", label: "Means by every metric", columns, rows: of.rows, kind: "heat", sort: `-${at.metric}` }),
      hint("Means, and in small figures their ranks; the stronger the tint, the better the rank."));
  }

  function agreement(ranking) {
    if (ranking.metrics.length < 2 || ranking.detectors.length < 2) return [];
    const rows = ranking.metrics.map((metric, i) => ({ name: labels.get(metric), i }));
    const columns = [
      { key: "name", head: "Metric", text: true, rowHead: true, value: (row) => row.name },
      ...rows.map((other) => ({ key: `m${other.i}`, head: other.name, value: (row) => ranking.agreement[row.i][other.i], digits: 2,
        style: (row) => tau(ranking.agreement[row.i][other.i]) })),
    ];
    return [section("Agreement of metrics", table({ id: "agreement", label: "Agreement of metrics", columns, rows, kind: "heat tau" }),
      hint("Kendall's tau between the orders in which two metrics put the detectors, the mean over the series: 1 is the same order, 0 is chance, −1 is the reverse."))];
  }

  async function leaderboard(at) {
    const ranking = await rankingAt(at);
    if (ranking.trouble) return [title("Leaderboard"), paragraph(ranking.trouble)];
    const of = standing(ranking, at.metric);
    if (!of) return [title("Leaderboard"), paragraph(`Not every detector has a value of ${labels.get(at.metric)} here, so there is no ranking by it.`), ...ranking.notes.map((note) => hint(note))];
    return [
      element("h2", { class: "visually-hidden" }, `Ranking by ${labels.get(at.metric)}`),
      paragraph(of.verdict, "verdict"), board(at, of),
      hint(`${ranking.over} Higher is better, by every metric; of ranks, 1 is best. Bars are 95 % intervals, coloured where a detector is not told apart from the best.`),
      ...ranking.notes.map((note) => hint(note)),
      ...differences(of), everyMetric(at, ranking, of), ...agreement(ranking),
    ];
  }

  // Detectors ------------------------------------------------------------------------------------------------------

  async function detector(at) {
    const d = detectors.findIndex((each) => each.name === at.name);
    const me = detectors[d];
    const metric = content.metrics.find((each) => each.name === at.metric) ?? content.metrics[0];
    const [ranking, own, values] = await Promise.all([rankingAt({ ...at, by: "series" }), load(me.file), metric ? load(metric.file) : []]);
    const of = !ranking.trouble && metric && standing(ranking, metric.name);
    const row = of && of.rows.find((each) => each.d === d);
    const { captured, near, missed } = own.events;
    const events = captured + near + missed;
    return [
      title(me.name, me.bound ? element("small", {}, " a bound, not ranked") : null),
      own.parameters.length ? hint(own.parameters.map(([key, value]) => `${key} ${value}`).join(", ")) : null,
      element("dl", { class: "facts" },
        row ? fact(`Rank by ${metric.label}`, rank(row.rank), `of ${of.rows.length}`) : null,
        row ? fact(`Mean ${metric.label}`, number(row.mean), known(row.low) ? span(row) : "") : null,
        row && known(row.seeds) ? fact("± by seed", number(row.seeds), `${me.seeds} seeds`) : null,
        events ? fact("Events captured", `${number((100 * captured) / events, 0)} %`, `${number(captured, 0)} of ${number(events, 0)}`) : null,
        own.seconds ? fact("Seconds a series", seconds(own.seconds.mean), `median ${seconds(own.seconds.median)}, longest ${seconds(own.seconds.longest)}`) : null,
        own.seconds ? fact("Time in all", duration(own.seconds.total), `${number(own.seconds.runs, 0)} runs`) : null),
      element("div", { class: "columns" }, row ? byMetric(ranking, d) : null, await byDataset(metric, d)),
      ...(values.length ? [worstSeries(at, metric, values, d)] : []),
      ...(events ? [lostEvents(own)] : []),
      ...reasons(own.lacking, false),
    ];
  }

  const duration = (value) => (value < 120 ? `${seconds(value)} s` : value < 7200 ? `${number(value / 60, 1)} min` : `${number(value / 3600, 1)} h`);

  function byMetric(ranking, d) {
    const rows = ranking.metrics.map((name) => ({ label: labels.get(name), ...standing(ranking, name).rows.find((row) => row.d === d) }));
    const columns = [
      { key: "label", head: "Metric", text: true, rowHead: true, value: (row) => row.label },
      { key: "mean", head: "Mean", value: (row) => row.mean },
      { key: "low", head: "95 % interval", value: (row) => row.low, cell: span, kind: "soft" },
      ...(rows.some((row) => known(row.seeds)) ? [{ key: "seeds", head: "± by seed", value: (row) => row.seeds, kind: "soft" }] : []),
      { key: "rank", head: "Rank", low: true, value: (row) => row.rank, cell: (row) => rank(row.rank) },
      { key: "average", head: "Average rank", low: true, value: (row) => row.average, digits: 2 },
    ];
    return section("By every metric", table({ id: "metrics", label: "By every metric", columns, rows }));
  }

  function worstSeries(at, metric, values, d) {
    const ranked = (row) => row.map((value, i) => (detectors[i].bound ? null : value));
    const rows = series.filter((each) => inData(at, each) && found(at, each.name)).flatMap((each) => {
      const value = values[each.i][d];
      if (!known(value)) return [];
      const best = Math.max(...ranked(values[each.i]).filter(known));
      return [{ ...each, value, best, behind: best - value, by: values[each.i].indexOf(best) }];
    });
    const columns = [
      { key: "series", head: "Series", text: true, rowHead: true, value: (row) => row.name, cell: (row) => toSeries(row.i) },
      { key: "dataset", head: "Dataset", text: true, value: (row) => row.dataset },
      { key: "value", head: metric.label, low: true, value: (row) => row.value },
      { key: "best", head: "Best", value: (row) => row.best },
      { key: "by", head: "Best detector", text: true, value: (row) => detectors[row.by]?.name ?? NONE },
      { key: "behind", head: "Behind the best", value: (row) => row.behind },
    ];
    return section("Where it fails", table({ id: "worst", label: `Series by ${metric.label}`, columns, rows, sort: "value", most: 15 }));
  }

  function lostEvents({ events, lost }) {
    const rows = lost.map(([s, start, stop, dqe, capture, near, alarm, hits, others]) => ({ s, start, stop, dqe, capture, near, alarm, hits, others }));
    const columns = [
      { key: "series", head: "Series", text: true, rowHead: true, value: (row) => series[row.s].name, cell: (row) => toSeries(row.s) },
      { key: "start", head: "Event", text: true, value: (row) => row.start, cell: (row) => `[${row.start}, ${row.stop})` },
      { key: "hits", head: "Others that capture it", value: (row) => row.hits, cell: (row) => `${row.hits} of ${row.others}` },
      { key: "dqe", head: "DQE", low: true, value: (row) => row.dqe },
      { key: "capture", head: "Capture", low: true, value: (row) => row.capture },
      { key: "near", head: "Near miss", low: true, value: (row) => row.near },
      { key: "alarm", head: "False alarm", low: true, value: (row) => row.alarm },
    ];
    const total = events.captured + events.near + events.missed;
    const said = `Of ${number(total, 0)} events, ${number(events.captured, 0)} are captured, ${number(events.near, 0)} nearly missed and ${number(events.missed, 0)} missed.`;
    const cut = events.near + events.missed > rows.length ? ` Listed are ${number(rows.length, 0)}: those that most others capture.` : "";
    return section("Events that it misses", paragraph(said + cut),
      rows.length ? table({ id: "lost", label: "Events that it misses", columns, rows, most: 15 }) : null,
      hint("An event counts as captured if its capture score is one half or more, and as nearly missed if its near-miss score is. Scores are means over seeds; 1 is best, also for false alarms."));
  }

  async function byDataset(metric, d) {
    if (!content.datasets.length || !metric) return [];
    const all = await Promise.all(content.datasets.map(({ file }) => load(file)));
    const rows = content.datasets.flatMap(({ name }, i) => {
      const of = !all[i].series.trouble && standing(all[i].series, metric.name);
      const row = of && of.rows.find((each) => each.d === d);
      return row ? [{ ...row, dataset: name, n: all[i].series.n, of: of.rows.length }] : [];
    });
    const columns = [
      { key: "dataset", head: "Dataset", text: true, rowHead: true, value: (row) => row.dataset, cell: (row) => anchor({ data: row.dataset }, row.dataset) },
      { key: "n", head: "Series", value: (row) => row.n, digits: 0 },
      { key: "mean", head: metric.label, value: (row) => row.mean },
      { key: "low", head: "95 % interval", value: (row) => row.low, cell: span, kind: "soft" },
      { key: "rank", head: "Rank", low: true, value: (row) => row.rank, cell: (row) => `${rank(row.rank)} of ${row.of}` },
    ];
    return rows.length ? [section("By dataset", table({ id: "datasets", label: "By dataset", columns, rows }))] : [];
  }

  // Series ---------------------------------------------------------------------------------------------------------

  async function allSeries(at) {
    const metric = content.metrics.find((each) => each.name === at.metric) ?? content.metrics[0];
    const values = metric ? await load(metric.file) : series.map(() => detectors.map(() => null));
    const ranked = detectors.map((each, d) => ({ ...each, d })).filter((each) => !each.bound);
    const rows = series.filter((each) => inData(at, each) && (found(at, each.name) || found(at, each.dataset)));
    const columns = [
      { key: "series", head: "Series", text: true, rowHead: true, value: (row) => row.name, cell: (row) => toSeries(row.i) },
      ...(content.datasets.length ? [{ key: "dataset", head: "Dataset", text: true, value: (row) => row.dataset }] : []),
      { key: "events", head: "Events", value: (row) => row.events, digits: 0 },
      { key: "agreement", head: "Agreement", low: true, value: (row) => row.agreement, digits: 2 },
      ...ranked.map(({ name, d }) => ({ key: `d${d}`, head: name, value: (row) => values[row.i][d], style: (row) => tint(values[row.i][d]) })),
    ];
    return [
      title("Series"),
      paragraph(`${number(rows.length, 0)} of ${number(series.length, 0)} series${at.q ? ` match “${at.q}”` : ""}. ${metric ? `${metric.label} of each detector.` : ""}`),
      table({ id: "series", label: "Series", columns, rows, kind: "heat", sort: at.sort || "series", press: (sort) => move({ sort }), most: 400 }),
      hint("Agreement is the mean of Kendall's tau between the first metric and each other one: where it is low, the metrics disagree about the order of the detectors."),
    ];
  }

  async function oneSeries(at) {
    const me = series.find((each) => each.name === at.name);
    const own = await load(me.file);
    const facts = [me.dataset, known(me.events) ? `${number(me.events, 0)} ${me.events === 1 ? "event" : "events"}` : null].filter(Boolean).join(" · ");
    const beside = (step, text) => series[me.i + step] ? anchor({ name: series[me.i + step].name }, text) : null;
    return [
      title(me.name), hint(facts),
      element("p", { class: "beside" }, me.page ? element("a", { href: me.page, class: "strong" }, "Open it in the explorer") : null,
        beside(-1, "← previous series"), beside(1, "next series →")),
      onSeries(at, own), ...(own.events ? [eventsOf(at, own)] : []), ...reasons(own.lacking, true),
    ];
  }

  function onSeries(at, own) {
    const rows = detectors.map((each, d) => ({ ...each, d, seconds: own.seconds[d], kind: each.bound ? "bound" : null }))
      .filter(({ d }) => own.values[d].some(known));
    const columns = [
      { key: "name", head: "Detector", text: true, rowHead: true, value: (row) => row.name, cell: (row) => toDetector(row.d) },
      ...content.metrics.map(({ name, label }, j) => ({ key: name, head: label, value: (row) => own.values[row.d][j],
        cell: (row) => [number(own.values[row.d][j]), known(own.seeds[row.d][j]) ? element("small", {}, ` ±${number(own.seeds[row.d][j])}`) : null],
        style: (row) => tint(own.values[row.d][j]) })),
      { key: "seconds", head: "Seconds", low: true, value: (row) => row.seconds, cell: (row) => seconds(row.seconds), kind: "soft" },
    ];
    const ranked = rows.filter((row) => !row.bound);
    return section("Every detector and metric",
      table({ id: "every", label: "Every detector and metric", columns, rows: ranked, below: rows.filter((row) => row.bound), kind: "heat",
        sort: at.sort || `-${at.metric}`, press: (sort) => move({ sort }) }),
      rows.some((row) => own.seeds[row.d].some(known)) ? hint("Means over seeds; in small figures, the standard deviation from seed to seed.") : null);
  }

  function eventsOf(at, own) {
    const part = content.parts.find((each) => each.name === at.part) ?? content.parts[0];
    const of = own.parts[part.name];
    const shown = detectors.map((each, d) => ({ ...each, d })).filter(({ d, bound }) => !bound && of[d].some(known));
    const rows = own.events.map(([start, stop], i) => ({ i, start, stop }));
    const columns = [
      { key: "start", head: "Event", text: true, rowHead: true, value: (row) => row.start, cell: (row) => `[${row.start}, ${row.stop})` },
      ...shown.map(({ name, d }) => ({ key: `d${d}`, head: name, value: (row) => of[d][row.i], style: (row) => tint(of[d][row.i]) })),
    ];
    const choices = content.parts.map(({ name, label }) =>
      element("a", { href: link({ part: name }), "aria-current": name === part.name ? "true" : null }, label));
    return section("Event by event", element("p", { class: "choices" }, choices),
      table({ id: "events", label: `${part.label} of every event`, columns, rows, kind: "heat", most: 100 }),
      hint("1 is best, also for false alarms. Means over seeds."));
  }

  // What failed, and the numbers to take away ----------------------------------------------------------------------

  function reasons(lacking, named) {
    if (!lacking.length) return [];
    const rows = lacking.map(([d, what, status, reason, times]) => ({ d, what, status, reason, times }));
    const columns = [
      ...(named ? [{ key: "d", head: "Detector", text: true, rowHead: true, value: (row) => detectors[row.d].name }] : []),
      { key: "what", head: "What", text: true, value: (row) => row.what },
      { key: "status", head: "Status", text: true, value: (row) => row.status },
      { key: "times", head: "Times", value: (row) => row.times, digits: 0 },
      { key: "reason", head: "Reason", text: true, value: (row) => row.reason, kind: "reason" },
    ];
    return [section("Without a value", table({ id: "lacking", label: "Without a value", columns, rows, most: 15 }))];
  }

  function failures(at) {
    const { failed, undefined: undetermined, reasons, kinds } = content.failures;
    const rows = reasons.filter((row) => found(at, `${detectors[row.detector].name} ${row.what} ${row.reason}`));
    const columns = [
      { key: "detector", head: "Detector", text: true, rowHead: true, value: (row) => detectors[row.detector].name, cell: (row) => toDetector(row.detector) },
      { key: "what", head: "What", text: true, value: (row) => row.what },
      { key: "status", head: "Status", text: true, value: (row) => row.status },
      { key: "times", head: "Times", value: (row) => row.times, digits: 0 },
      { key: "series", head: "First on", text: true, value: (row) => series[row.series].name, cell: (row) => toSeries(row.series) },
      { key: "reason", head: "Reason", text: true, value: (row) => row.reason, kind: "reason" },
    ];
    const cut = kinds > reasons.length ? ` The ${number(reasons.length, 0)} most common reasons of ${number(kinds, 0)} are listed.` : "";
    return [title("Failures"),
      paragraph(`${number(failed, 0)} values failed and ${number(undetermined, 0)} are undefined. Neither is counted as 0: a series counts only where every detector has a value.${cut}`),
      table({ id: "failures", label: "Failures", columns, rows, sort: at.sort || "-times", press: (sort) => move({ sort }) })];
  }

  function numbers() {
    const size = (bytes) => (bytes < 1e5 ? `${number(bytes / 1e3, 1)} kB` : `${number(bytes / 1e6, 1)} MB`);
    const columns = [
      { key: "path", head: "File", text: true, rowHead: true, value: (row) => row.path, cell: (row) => element("a", { href: row.path, download: "" }, row.path.split("/").at(-1)) },
      { key: "what", head: "What is in it", text: true, value: (row) => row.what },
      { key: "bytes", head: "Size", value: (row) => row.bytes, cell: (row) => size(row.bytes) },
      { key: "digest", head: "SHA-256", text: true, cell: (row) => element("code", {}, `${row.digest.slice(0, 16)}…`), title: (row) => row.digest },
    ];
    const cited = content.downloads.find((each) => each.path.endsWith("results.csv"));
    return [title("Numbers"),
      table({ id: "downloads", label: "Downloads", columns, rows: content.downloads }),
      heading("Receipt"),
      element("p", {}, element("a", { href: "receipt.json" }, "receipt.json"), " has the digests of all files of this site and of the data of each series, and the versions that the numbers were made with. To check that no number was changed, and that the rankings follow from the results:"),
      element("pre", {}, element("code", {}, "dqeval verify receipt.json")),
      heading("To cite a number"),
      paragraph(`Give the name of the benchmark (${content.title}), the version of dqeval (${content.version}), the metric, the dataset, and the digest of its results, of which the first eight characters will do: ${cited.digest.slice(0, 8)}. The address of this page holds metric, dataset, order and search.`)];
  }

  return { leaderboard, detector, series: (at) => (at.name ? oneSeries(at) : allSeries(at)), failures, numbers, labels, byName: { detector: (name) => detectors.some((each) => each.name === name), series: (name) => series.some((each) => each.name === name) } };
};
