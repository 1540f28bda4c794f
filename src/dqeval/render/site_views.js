// The views of one detector, of all series and of one, of what failed, and of the numbers to take away.
"use strict";
const makeViews = (content, load, link, move) => {
  const { NONE, element, known, number, rank, seconds, tint, table } = parts;
  const kit = makeKit(content, load, link);
  const { detectors, series, texts, names, numbers, lows, anchor, toDetector, toSeries } = kit;
  const { title, paragraph, hint, section, span } = kit;
  const ranked = detectors.filter((each) => !each.bound);
  const place = ({ start, stop }) => `[${start}, ${stop})`;

  // One detector ---------------------------------------------------------------------------------------------------

  async function detector(at) {
    const me = detectors.find((each) => each.name === at.name);
    const metric = kit.metricAt(at);
    const [ranking, byEvent] = await Promise.all(["series", "event"].map((by) => kit.rankingAt({ ...at, by })));
    const [own, values] = await Promise.all([load(me.file), metric ? load(metric.file) : []]);
    const of = metric ? kit.standing(ranking, metric.name) : null;
    const row = of?.rows.find((each) => each.d === me.d);
    return [
      title(me.name, me.bound ? "a bound, not ranked" : ""),
      own.parameters.length ? hint(own.parameters.map((pair) => pair.join(" ")).join(", ")) : null,
      element("dl", { class: "facts" }, row ? standingFacts(me, metric, row, of) : null, ownFacts(own)),
      element("div", { class: "columns" },
        standings("metrics", "By every metric", "Metric", ranking, me),
        element("div", {}, await byDataset(metric, me),
          standings("parts", "Parts of DQE, over all events", "Part", byEvent, me))),
      ...(values.length ? [worstSeries(at, metric, values, me)] : []),
      ...(eventsIn(own) ? [lostEvents(own)] : []),
      ...reasons(own.lacking, false),
    ];
  }

  const eventsIn = ({ events }) => events.captured + events.near + events.missed;

  function fact(name, value, more = "") {
    const small = more ? element("small", {}, ` ${more}`) : null;
    return element("div", {}, element("dt", {}, name), element("dd", {}, value, small));
  }

  function standingFacts(me, metric, row, of) {
    return [
      fact(`Rank by ${metric.label}`, rank(row.rank), `of ${of.rows.length}`),
      fact(`Mean ${metric.label}`, number(row.mean), known(row.low) ? span(row) : ""),
      known(row.seeds) ? fact("± by seed", number(row.seeds), `${me.seeds} seeds`) : null,
    ];
  }

  function ownFacts(own) {
    const { captured } = own.events;
    const all = eventsIn(own);
    const time = own.seconds;
    return [
      all ? fact("Events captured", `${number((100 * captured) / all, 0)} %`, `${captured} of ${all}`) : null,
      time ? fact("Seconds per series", seconds(time.mean),
        `median ${seconds(time.median)}, longest ${seconds(time.longest)}`) : null,
      time ? fact("Time in all", duration(time.total), `${number(time.runs, 0)} runs`) : null,
    ];
  }

  function duration(value) {
    if (value < 120) return `${seconds(value)} s`;
    return value < 7200 ? `${number(value / 60, 1)} min` : `${number(value / 3600, 1)} h`;
  }

  // How a detector stands by every metric of a ranking; nothing where it is not ranked.
  function standings(id, label, what, ranking, me) {
    if (ranking.trouble || !ranking.detectors.includes(me.d)) return null;
    const rows = ranking.metrics.map((name) => (
      { label: kit.labels.get(name), ...kit.standing(ranking, name).rows.find((row) => row.d === me.d) }));
    const columns = [
      names("label", what, (row) => row.label),
      numbers("mean", "Mean", (row) => row.mean),
      ...kit.standingColumns(rows), kit.rankColumn("Rank"), kit.averageColumn,
    ];
    return section(label, table({ id, label, columns, rows }));
  }

  async function byDataset(metric, me) {
    const all = metric ? await Promise.all(content.datasets.map(({ file }) => load(file))) : [];
    const rows = all.flatMap(({ series: ranking }, i) => {
      const row = kit.standing(ranking, metric.name)?.rows.find((each) => each.d === me.d);
      return row ? [{ ...row, dataset: content.datasets[i].name, n: ranking.n }] : [];
    });
    const columns = [
      names("dataset", "Dataset", (row) => row.dataset, { cell: (row) => anchor({ data: row.dataset }, row.dataset) }),
      numbers("n", "Series", (row) => row.n, { digits: 0 }),
      numbers("mean", metric?.label, (row) => row.mean),
      ...kit.standingColumns(rows), kit.rankColumn("Rank"),
    ];
    return rows.length ? section("By dataset", table({ id: "datasets", label: "By dataset", columns, rows })) : null;
  }

  function worstSeries(at, metric, values, me) {
    const rows = series.filter((each) => kit.inData(at, each) && kit.found(at, each.name)).flatMap((each) => {
      const value = values[each.i][me.d];
      if (!known(value)) return [];
      const first = ranked.filter(({ d }) => known(values[each.i][d]))
        .reduce((a, b) => (a && values[each.i][a.d] >= values[each.i][b.d] ? a : b), null);
      const best = first ? values[each.i][first.d] : null;
      return [{ ...each, value, best, by: first?.name ?? NONE, behind: first ? best - value : null }];
    });
    const columns = [
      names("series", "Series", (row) => row.name, { cell: (row) => toSeries(row.i) }),
      texts("dataset", "Dataset", (row) => row.dataset),
      lows("value", metric.label, (row) => row.value),
      numbers("best", "Best", (row) => row.best),
      texts("by", "Best detector", (row) => row.by),
      numbers("behind", "Behind the best", (row) => row.behind),
    ];
    const label = `Series by ${metric.label}`;
    return section("Where it fails", table({ id: "worst", label, columns, rows, sort: "value", most: 15 }));
  }

  function lostEvents(own) {
    const { captured, near, missed } = own.events;
    const rows = own.lost.map(([s, start, stop, dqe, capture, close, alarm, hits, others]) =>
      ({ s, start, stop, dqe, capture, close, alarm, hits, others }));
    const columns = [
      names("series", "Series", (row) => series[row.s].name, { cell: (row) => toSeries(row.s) }),
      texts("start", "Event", (row) => row.start, { cell: place, kind: "whole" }),
      numbers("hits", "Others that capture it", (row) => row.hits, { cell: (row) => `${row.hits} of ${row.others}` }),
      lows("dqe", "DQE", (row) => row.dqe),
      lows("capture", "Capture", (row) => row.capture),
      lows("close", "Near miss", (row) => row.close),
      lows("alarm", "False alarm", (row) => row.alarm),
    ];
    const said = `Of ${number(eventsIn(own), 0)} events, ${number(captured, 0)} are captured, `
      + `${number(near, 0)} nearly missed and ${number(missed, 0)} missed.`;
    const cut = near + missed > rows.length ? ` Listed are ${rows.length}: those that most others capture.` : "";
    const list = table({ id: "lost", label: "Events that it misses", columns, rows, most: 15 });
    return section("Events that it misses", paragraph(said + cut), rows.length ? list : null,
      hint("An event counts as captured if its capture score is one half or more, and as nearly missed if its "
        + "near-miss score is. Scores are means over seeds; 1 is best, also for false alarms."));
  }

  // Series ---------------------------------------------------------------------------------------------------------

  async function allSeries(at) {
    const metric = kit.metricAt(at);
    const values = metric ? await load(metric.file) : series.map(() => []);
    const rows = series.filter((each) => kit.inData(at, each) && kit.found(at, `${each.name} ${each.dataset}`));
    const column = ({ name, d }) =>
      numbers(`d${d}`, name, (row) => values[row.i][d], { style: (row) => tint(values[row.i][d]) });
    const columns = [
      names("series", "Series", (row) => row.name, { cell: (row) => toSeries(row.i) }),
      ...(content.datasets.length ? [texts("dataset", "Dataset", (row) => row.dataset)] : []),
      numbers("events", "Events", (row) => row.events, { digits: 0 }),
      lows("agreement", "Agreement", (row) => row.agreement, { digits: 2 }),
      ...ranked.map(column),
    ];
    const matching = at.q ? ` match “${at.q}”` : "";
    const counted = `${number(rows.length, 0)} of ${number(series.length, 0)} series${matching}.`;
    const shown = { id: "series", label: "Series", kind: "heat", sort: at.sort || "series", most: 400 };
    return [
      title("Series"),
      paragraph(metric ? `${counted} ${metric.label} of each detector.` : counted),
      table({ ...shown, columns, rows, press: (sort) => move({ sort }) }),
      hint("Agreement is the mean of Kendall's tau between the first metric and each other one: where it is low, "
        + "the metrics disagree about the order of the detectors."),
    ];
  }

  async function oneSeries(at) {
    const me = series.find((each) => each.name === at.name);
    const own = await load(me.file);
    const events = known(me.events) ? ` · ${number(me.events, 0)} ${me.events === 1 ? "event" : "events"}` : "";
    const beside = (step, text) => {
      const other = series[me.i + step];
      return other ? anchor({ name: other.name }, text) : null;
    };
    const explorer = me.page ? element("a", { href: me.page, class: "strong" }, "Open it in the explorer") : null;
    return [
      title(me.name),
      hint(me.dataset + events),
      element("p", { class: "beside" }, explorer, beside(-1, "← previous series"), beside(1, "next series →")),
      onSeries(at, own),
      ...(own.events ? [eventsOf(at, own)] : []),
      ...reasons(own.lacking, true),
    ];
  }

  function onSeries(at, own) {
    const rows = detectors.filter(({ d }) => own.values[d].some(known))
      .map((each) => ({ ...each, seconds: own.seconds[each.d], kind: each.bound ? "bound" : null }));
    const column = ({ name, label }, j) => {
      const value = (row) => own.values[row.d][j];
      const spread = (row) => own.seeds[row.d][j];
      const small = (row) => (known(spread(row)) ? element("small", {}, ` ±${number(spread(row))}`) : null);
      return numbers(name, label, value,
        { cell: (row) => [number(value(row)), small(row)], style: (row) => tint(value(row)) });
    };
    const columns = [
      names("name", "Detector", (row) => row.name, { cell: (row) => toDetector(row.d) }),
      ...content.metrics.map(column),
      lows("seconds", "Seconds", (row) => row.seconds, { cell: (row) => seconds(row.seconds), kind: "soft" }),
    ];
    const seeded = own.seeds.some((each) => each.some(known));
    return section("Every detector and metric",
      table({
        ...{ id: "every", label: "Every detector and metric", kind: "heat", columns },
        ...{ rows: rows.filter((row) => !row.bound), below: rows.filter((row) => row.bound) },
        ...{ sort: at.sort || `-${at.metric}`, press: (sort) => move({ sort }) },
      }),
      seeded ? hint("Means over seeds; in small figures, the standard deviation from seed to seed.") : null);
  }

  function eventsOf(at, own) {
    const part = content.parts.find((each) => each.name === at.part) ?? content.parts[0];
    const of = own.parts[part.name];
    const rows = own.events.map(([start, stop], i) => ({ i, start, stop }));
    const column = ({ name, d }) =>
      numbers(`d${d}`, name, (row) => of[d][row.i], { style: (row) => tint(of[d][row.i]) });
    const columns = [
      names("start", "Event", (row) => row.start, { cell: place }),
      ...ranked.filter(({ d }) => of[d].some(known)).map(column),
    ];
    const choices = content.parts.map(({ name, label }) =>
      element("a", { href: link({ part: name }), "aria-current": name === part.name ? "true" : null }, label));
    return section("Event by event",
      element("p", { class: "choices" }, choices),
      table({ id: "events", label: `${part.label} of every event`, columns, rows, kind: "heat", most: 100 }),
      hint("1 is best, also for false alarms. Means over seeds."));
  }

  // What failed, and the numbers to take away ----------------------------------------------------------------------

  const reasonColumns = [
    texts("what", "What", (row) => row.what),
    texts("status", "Status", (row) => row.status),
    numbers("times", "Times", (row) => row.times, { digits: 0 }),
    texts("reason", "Reason", (row) => row.reason, { kind: "reason" }),
  ];

  function reasons(lacking, named) {
    const rows = lacking.map(([d, what, status, reason, times]) => ({ d, what, status, reason, times }));
    const who = names("d", "Detector", (row) => kit.detectorName(row.d));
    const columns = [...(named ? [who] : []), ...reasonColumns];
    const shown = { id: "lacking", label: "Without a value", most: 15 };
    return rows.length ? [section("Without a value", table({ ...shown, columns, rows }))] : [];
  }

  function failures(at) {
    const { failed, undefined: lacking, kinds } = content.failures;
    const searched = (row) => `${kit.detectorName(row.detector)} ${row.what} ${row.reason}`;
    const rows = content.failures.reasons.filter((row) => kit.found(at, searched(row)));
    const columns = [
      names("detector", "Detector", (row) => kit.detectorName(row.detector),
        { cell: (row) => toDetector(row.detector) }),
      texts("series", "First on", (row) => series[row.series].name, { cell: (row) => toSeries(row.series) }),
      ...reasonColumns,
    ];
    const listed = content.failures.reasons.length;
    const cut = kinds > listed ? ` The ${listed} most common reasons of ${number(kinds, 0)} are listed.` : "";
    const shown = { id: "failures", label: "Failures", sort: at.sort || "-times", press: (sort) => move({ sort }) };
    return [
      title("Failures"),
      paragraph(`${number(failed, 0)} values failed and ${number(lacking, 0)} are undefined. Neither is counted as 0: `
        + `a series counts only where every detector that is ranked has a value.${cut}`),
      table({ ...shown, columns, rows }),
    ];
  }

  const size = (bytes) => (bytes < 1e5 ? `${number(bytes / 1e3, 1)} kB` : `${number(bytes / 1e6, 1)} MB`);

  function downloads() {
    const file = (row) => element("a", { href: row.path, download: "" }, row.path.split("/").at(-1));
    const columns = [
      names("path", "File", (row) => row.path, { cell: file }),
      texts("what", "What is in it", (row) => row.what),
      numbers("bytes", "Size", (row) => row.bytes, { cell: (row) => size(row.bytes) }),
      texts("digest", "SHA-256", (row) => row.digest, {
        cell: (row) => element("code", {}, `${row.digest.slice(0, 16)}…`), title: (row) => row.digest }),
    ];
    const cited = content.downloads.find((each) => each.path.endsWith("results.csv")).digest.slice(0, 8);
    return [
      title("Numbers"),
      table({ id: "downloads", label: "Downloads", columns, rows: content.downloads }),
      section("Receipt",
        element("p", {}, element("a", { href: "receipt.json" }, "receipt.json"),
          " has the digests of all files of this site and of the data of each series, and the versions that the "
          + "numbers were made with. To check that no number was changed, and that the rankings follow from the results:"),
        element("pre", {}, element("code", {}, "dqeval verify receipt.json"))),
      section("To cite a number",
        paragraph(`Give the name of the benchmark (${content.title}), the version of dqeval (${content.version}), the `
          + `metric, the dataset, and the start of the digest of results.csv (${cited}). The address of a view holds its `
          + "metric, dataset, order and search.")),
    ];
  }

  const views = {
    leaderboard: makeLeaderboard(kit, move),
    detector,
    series: (at) => (at.name ? oneSeries(at) : allSeries(at)),
    failures,
    numbers: downloads,
  };
  return { kit, views };
};
