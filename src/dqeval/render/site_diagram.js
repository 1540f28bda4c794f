// The critical-difference diagram: average ranks on an axis, and bars that join the detectors not told apart.
"use strict";
const diagram = (() => {
  const { drawn, element, number } = parts;
  const WIDTH = 820, EDGE = 232, TOP = 34, ROW = 22, LEVEL = 9;
  const LONGEST = 26; // letters of a name

  function short(name) {
    return name.length > LONGEST ? `${name.slice(0, LONGEST / 2)}…${name.slice(1 - LONGEST / 2)}` : name;
  }

  // Bars in as few levels as keep those that overlap, or nearly do, apart.
  function levels(spans, gap) {
    const found = [];
    for (const span of spans.sort((a, b) => a[0] - b[0])) {
      const free = found.find((level) => level.at(-1)[1] + gap < span[0]);
      if (free) free.push(span);
      else found.push([span]);
    }
    return found;
  }

  function axis(n, x) {
    const made = [drawn("line", { x1: x(1), x2: x(n), y1: TOP, y2: TOP, class: "axis" })];
    const step = Math.ceil((n - 1) / 12) || 1;
    for (let tick = 1; tick <= n; tick += step) {
      made.push(drawn("line", { x1: x(tick), x2: x(tick), y1: TOP - 5, y2: TOP, class: "axis" }));
      made.push(drawn("text", { x: x(tick), y: TOP - 10, "text-anchor": "middle" }, String(tick)));
    }
    return made;
  }

  // The better half on the left and the others on the right; the outermost stand highest, so that no lines cross.
  function names(ranked, x, below) {
    const half = Math.ceil(ranked.length / 2);
    const sides = [[ranked.slice(0, half), EDGE - 8, "end"], [ranked.slice(half).reverse(), WIDTH - EDGE + 8, "start"]];
    return sides.flatMap(([side, edge, anchor]) => side.flatMap(({ name, average }, row) => {
      const y = below + ROW * (row + 0.5);
      const both = [short(name), number(average, 2)];
      const text = (anchor === "end" ? both : both.reverse()).join("\u2002");
      return [
        drawn("polyline", { points: `${x(average)},${TOP} ${x(average)},${y} ${edge},${y}`, class: "lead" }),
        drawn("text", { x: edge + (anchor === "end" ? -4 : 4), y: y + 4, "text-anchor": anchor }, text),
      ];
    }));
  }

  // ranked: name and average rank, the best first; groups: lists of average ranks.
  return function draw(ranked, groups, words) {
    const n = ranked.length;
    const x = (value) => EDGE + ((WIDTH - 2 * EDGE) * (value - 1)) / (n - 1);
    const bars = levels(groups.map((ranks) => [Math.min(...ranks), Math.max(...ranks)]), 0.05 * (n - 1));
    const below = TOP + LEVEL * (bars.length + 1);
    const height = below + ROW * Math.ceil(n / 2) + 6;
    const lines = bars.flatMap((level, i) => level.map(([low, high]) => drawn("line",
      { x1: x(low) - 5, x2: x(high) + 5, y1: TOP + LEVEL * (i + 1), y2: TOP + LEVEL * (i + 1), class: "bar" })));
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": words },
      ...axis(n, x), ...names(ranked, x, below), ...lines);
    const label = "Critical-difference diagram";
    return element("div", { class: "scroll diagram", tabindex: 0, role: "group", "aria-label": label }, svg);
  };
})();
