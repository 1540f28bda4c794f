// The first view: who is best, by how much, how surely, and how far the metrics agree about it.
"use strict";
const makeLeaderboard = (kit, move) => {
  const { NONE, element, known, number, rank, chance, seconds, tint, tau, table, interval } = parts;
  const { labels, texts, names, numbers, lows, toDetector, title, paragraph, hint, section } = kit;
  const LEVEL = 0.05;

  const alike = (row) => row.best || row.p >= LEVEL;

  function told(row) {
    if (row.bound) return "";
    if (row.best) return "best";
    return alike(row) ? `not told apart (p ${chance(row.p)})` : `p ${chance(row.p)}`;
  }

  function boardColumns(metric, rows) {
    const scale = [
      Math.min(...rows.map((row) => row.low ?? row.mean)),
      Math.max(...rows.map((row) => row.high ?? row.mean)),
    ];
    const plot = (row) =>
      row.bound ? "" : interval(row.low, row.mean, row.high, scale, alike(row) ? "alike" : "");
    const time = lows("seconds", "Seconds per series", (row) => row.seconds,
      { cell: (row) => seconds(row.seconds), kind: "soft" });
    return [
      lows("rank", "#", (row) => row.rank, { cell: (row) => (row.bound ? "" : rank(row.rank)), kind: "place" }),
      names("name", "Detector", (row) => row.name, { cell: (row) => toDetector(row.d) }),
      numbers("mean", labels.get(metric), (row) => row.mean, { cell: (row) => element("b", {}, number(row.mean)) }),
      { key: "plot", head: "", cell: plot, kind: "plot" },
      ...kit.standingColumns(rows),
      kit.averageColumn,
      texts("p", "Against the best", (row) => (row.best ? 2 : row.p), { cell: told, kind: "soft" }),
      ...(rows.some((row) => known(row.seconds)) ? [time] : []),
    ];
  }

  function board(at, of) {
    return table({
      ...{ id: "board", label: `Ranking by ${labels.get(at.metric)}`, kind: "board" },
      columns: boardColumns(at.metric, of.rows),
      rows: of.rows.filter((row) => kit.found(at, row.name)),
      below: of.bounds.map(([d, mean]) => ({ d, mean, bound: true, kind: "bound" })),
      ...{ sort: at.sort || "-mean", press: (sort) => move({ sort }) },
    });
  }

  function differences(of) {
    if (of.rows.length < 2) return [];
    const ranked = [...of.rows].sort((a, b) => a.average - b.average);
    const average = new Map(ranked.map((each) => [each.d, each.average]));
    const groups = of.groups.map((group) => group.map((d) => average.get(d)));
    return [section("Critical differences",
      diagram(ranked, groups, `Critical-difference diagram. ${of.tests}`),
      paragraph(of.tests),
      hint("A bar joins detectors no two of which differ by more than chance. "
        + "Beside each name is its average rank; 1 is best."),
      pairs(of, ranked))];
  }

  function pairs(of, rows) {
    const values = new Map(of.pairs.flatMap(([a, b, p]) => [[`${a} ${b}`, p], [`${b} ${a}`, p]]));
    const column = ({ d, name }) => {
      const p = (row) => values.get(`${row.d} ${d}`) ?? null;
      const cell = (row) => (known(p(row)) ? chance(p(row)) : NONE);
      return lows(`d${d}`, name, p, { cell, style: (row) => (known(p(row)) && p(row) < LEVEL ? tint(1) : null) });
    };
    const columns = [names("name", "Detector", (row) => row.name), ...rows.map(column)];
    return element("details", {},
      element("summary", {}, "p-values of all pairs"),
      table({ id: "pairs", label: "p-values of all pairs", columns, rows, kind: "small" }),
      hint("Wilcoxon's signed-rank test, corrected after Holm. Tinted: below 0.05."));
  }

  function everyMetric(at, ranking, of) {
    const n = ranking.detectors.length;
    const column = (metric, j) => {
      const { mean, rank: ranks } = ranking.standings[j];
      const place = (row) => ranks[ranking.detectors.indexOf(row.d)];
      const value = (row) => mean[ranking.detectors.indexOf(row.d)];
      const cell = (row) => [
        element(place(row) === 1 ? "b" : "span", {}, number(value(row))),
        element("small", {}, ` ${rank(place(row))}`),
      ];
      const style = (row) => tint(n > 1 ? (n - place(row)) / (n - 1) : null);
      return numbers(metric, labels.get(metric), value, { cell, style });
    };
    const columns = [
      names("name", "Detector", (row) => row.name, { cell: (row) => toDetector(row.d) }),
      ...ranking.metrics.map(column),
    ];
    const shown = { id: "every", label: "Means by every metric", kind: "heat", sort: `-${at.metric}` };
    return section("Every metric", table({ ...shown, columns, rows: of.rows }),
      hint("Means, and in small figures their ranks; the stronger the tint, the better the rank."));
  }

  function agreement(ranking) {
    if (ranking.metrics.length < 2 || ranking.detectors.length < 2) return [];
    const rows = ranking.metrics.map((metric, i) => ({ name: labels.get(metric), i }));
    const column = ({ name, i }) => {
      const value = (row) => ranking.agreement[row.i][i];
      return numbers(`m${i}`, name, value, { digits: 2, style: (row) => tau(value(row)) });
    };
    const columns = [names("name", "Metric", (row) => row.name), ...rows.map(column)];
    return [section("Agreement of metrics",
      table({ id: "agreement", label: "Agreement of metrics", columns, rows, kind: "heat tau" }),
      hint("Kendall's tau between the orders in which two metrics put the detectors, the mean over the series: "
        + "1 is the same order, 0 is chance, −1 is the reverse."))];
  }

  // What a metric is; nothing of one whose module is not known where the site was made.
  function what(metric) {
    const summary = kit.summaries.get(metric);
    return summary ? [element("p", { class: "hint" }, element("b", {}, labels.get(metric)), ` ${summary}`)] : [];
  }

  return async function leaderboard(at) {
    const ranking = await kit.rankingAt(at);
    if (ranking.trouble) return [title("Leaderboard"), paragraph(ranking.trouble)];
    const notes = ranking.notes.map((note) => hint(note));
    const of = kit.standing(ranking, at.metric);
    if (!of) {
      const reason = `Not every detector has a value of ${labels.get(at.metric)} here, so there is no ranking by it.`;
      return [title("Leaderboard"), paragraph(reason), ...notes];
    }
    return [
      element("h2", { class: "visually-hidden" }, `Ranking by ${labels.get(at.metric)}`),
      paragraph(of.verdict, "verdict"),
      board(at, of),
      ...what(at.metric),
      hint(`${ranking.over} Higher is better, by every metric; of ranks, 1 is best. `
        + "Bars are 95 % intervals, coloured where a detector is not told apart from the best."),
      ...(of.bounds.length ? [hint(kit.aboutBounds)] : []),
      ...notes,
      ...differences(of), everyMetric(at, ranking, of), ...agreement(ranking),
    ];
  };
};
