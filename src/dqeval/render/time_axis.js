// Where points are drawn, and how long they last. A position counts what was observed. Its cell is behind all gaps
// before it, and is drawn at origin + cell * width.
const timeAxis = (() => {
  "use strict";
  const UNITS = [["d", 864e11], ["h", 36e11], ["min", 6e10], ["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
  const { passed } = ascending;
  const inDigits = new Intl.NumberFormat("en");

  function of({ origin, width, unit, resolution, breaks, gaps }) {
    const skipped = [0]; // cells that were not observed before each break, and in all
    for (const gap of gaps) skipped.push(skipped[skipped.length - 1] + gap);
    const gapEnds = breaks.map((position, i) => position + skipped[i + 1]); // the first cell behind each gap

    // Where what starts at a position is drawn, behind a gap there; and what ends at it, before the gap.
    const startX = (position) => origin + width * (position + skipped[passed(breaks, position)]);
    const endX = (position) => origin + width * (position + skipped[passed(breaks, position, { below: true })]);

    const cellAt = (x) => (x - origin) / width;
    const cellX = (cell) => origin + width * cell;

    // The position at x; in a gap, that behind it.
    function positionAt(x) {
      const cell = cellAt(x);
      const before = passed(gapEnds, cell);
      return Math.min(cell - skipped[before], breaks[before] ?? Infinity);
    }

    // How long some points or cells last, in the two largest units.
    function lasting(points) {
      if (resolution === null) return `${inDigits.format(points)} ${unit}${points === 1 ? "" : "s"}`;
      let left = Math.round(points * resolution);
      const first = UNITS.findIndex(([, length]) => left >= length);
      if (first < 0) return "0 s";
      const parts = [];
      for (const [name, length] of UNITS.slice(first, first + 2)) {
        const count = Math.floor(left / length);
        left -= count * length;
        if (count) parts.push(`${inDigits.format(count)} ${name}`);
      }
      return parts.join(" ");
    }

    return { startX, endX, cellAt, cellX, positionAt, lasting, breaks, gaps, gapEnds, unit };
  }

  return { of };
})();
