// DQE of each event at one threshold: the local regions of events (core/regions.py) and the scores of what is detected
// in them (kernels/dqe.py): the same numbers, but for the last digit. It knows nothing of the page, and runs wherever
// there is JavaScript.
const eventScores = (() => {
  "use strict";

  const { passed } = ascending;

  // From where to where nothing interrupts the series around an event: from break to break.
  function stretchOf({ start, stop }, { length, breaks }) {
    return [breaks[passed(breaks, start) - 1] ?? 0, breaks[passed(breaks, stop, { below: true })] ?? length];
  }

  // The six cuts of each event's region. Regions meet in the middle between two events, and end where there is a break.
  function cutsOf(events, series) {
    const { length, near } = series;
    return events.map((event, i) => {
      const { start, stop } = event;
      const [before, behind] = [events[i - 1]?.stop, events[i + 1]?.start];
      const [begins, closes] = stretchOf(event, series);
      const left = begins >= (before ?? 0) ? begins : (before + start) / 2;
      const right = closes <= (behind ?? length) ? closes : (stop + behind) / 2;
      return [left, Math.max(start - near, left), start, stop, Math.min(stop + near, right), right];
    });
  }

  // What is detected in a piece on one side of an event, counted in whole points. Distances are measured outwards from
  // the event: cell c covers those from c to c + 1. Also returned is how much of the first and the last cell, which the
  // piece may cut, lies inside it.
  function tally(detected, inner, outer) {
    const found = { points: 0, borders: 0, distances: 0, closest: Infinity, reaches: false, cells: 0, ends: 0, inEnds: 0 };
    if (inner >= outer) return found;
    const first = Math.floor(inner);
    const stop = Math.ceil(outer);
    let inPart = false;
    const border = (c) => {
      found.borders++;
      found.distances += c;
      inPart = !inPart;
    };
    for (let c = first; c < stop; c++) {
      const here = detected(c);
      if (here !== inPart) border(c);
      if (!here) continue;
      found.points++;
      if (found.closest === Infinity) found.closest = c;
    }
    found.reaches = inPart;
    found.cells = stop;
    if (inPart) {
      border(stop);
      found.ends++;
      found.inEnds += outer - Math.max(inner, stop - 1);
    }
    if (first < stop - 1 && detected(first)) {
      found.ends++;
      found.inEnds += first + 1 - inner;
    }
    return found;
  }

  // How long the detected parts of two pieces are. Whole points are subtracted before anything is added, so that a short
  // piece is not lost in rounding.
  function duration(early, late) {
    return early.points + late.points - early.ends - late.ends + (early.inEnds + late.inEnds);
  }

  function nearMissScore(early, late, reachEarly, reachLate, near) {
    let whole = early.distances + late.distances;
    let cut = 0;
    for (const [side, reach] of [[early, reachEarly], [late, reachLate]]) {
      if (!side.reaches) continue;
      whole -= side.cells;
      cut += reach;
    }
    // Rounding can make a factor slightly negative where it should be 0.
    return (
      Math.max(0, 1 - Math.min(early.closest, late.closest) / near) *
      Math.max(0, 1 - (whole + cut) / (early.borders + late.borders) / near) *
      Math.max(0, 1 - duration(early, late) / (2 * near))
    );
  }

  // How far behind `inner` the first part of a false-alarm piece has its middle; from 1 on, roughly.
  function firstMiddle(detected, inner, outer) {
    const cells = Math.ceil(outer);
    let c = Math.floor(inner);
    while (c < cells && c < inner + 1 && !detected(c)) c++;
    if (c === cells) return 1;
    const start = Math.max(inner, c);
    while (c < cells && c < inner + 2 && detected(c)) c++;
    return (start - inner + Math.min(outer, c) - inner) / 2;
  }

  // The ends of the bin that holds 0, where the false-alarm pieces, joined at 0, are cut into bins at most 1 wide, with
  // edges as numpy.linspace gives them; none, where parts before and behind the event cannot share it.
  function binAtZero(before, behind) {
    const room = before + behind;
    const bins = Math.ceil(room);
    if (before <= 0 || behind <= 0 || bins <= 1) return [0, 0];
    const width = room / bins;
    let index = Math.max(0, Math.floor(before / width) - 1);
    while ((index + 1) * width - before <= 0) index++;
    // The last bin is closed: a middle less than 1 away, as it always is in there, is inside.
    return [index * width - before, index + 1 < bins ? (index + 1) * width - before : 1];
  }

  function falseAlarmScore(early, late, sides, reaches) {
    const [before, behind] = sides.map((side, i) => side.reach - reaches[i]);
    const burden = Math.max(0, 1 - duration(early, late) / ((before + behind) / 2));
    const most = Math.ceil(before + behind);
    if (most <= 1 || burden === 0) return burden;
    // Two parts on one side never share a bin, so the parts count the bins.
    let bins = (early.borders + late.borders) / 2;
    const [binStart, binStop] = binAtZero(before, behind);
    if (binStart < 0) {
      const [one, other] = sides.map((side, i) => firstMiddle(side.detected, reaches[i], side.reach));
      if (-one >= binStart && other < binStop) bins--;
    }
    return burden * (1 - Math.log2(bins) / Math.log2(most));
  }

  // DQE, capture, near miss and false alarm of one event, from its cuts and how many thresholds each point reaches.
  function scoresOf([left, , start, stop, , right], near, levels, level) {
    const sides = [
      { reach: start - left, detected: (c) => levels[start - 1 - c] >= level },
      { reach: right - stop, detected: (c) => levels[stop + c] >= level },
    ];
    const reaches = sides.map((side) => Math.min(near, side.reach));
    const near_ = sides.map((side, i) => tally(side.detected, 0, reaches[i]));
    const far = sides.map((side, i) => tally(side.detected, reaches[i], side.reach));
    const isNear = near_.some((side) => side.points > 0);
    const isFar = far.some((side) => side.points > 0);
    let captured = false;
    for (let t = start; t < stop && !captured; t++) captured = levels[t] >= level;
    if (!captured && !isNear && !isFar) return [0, 0, 0, 0];
    const capture = captured ? 1 : 0;
    const alone = captured && !isFar ? 1 : 0;
    const nearMiss = isNear ? nearMissScore(...near_, ...reaches, near) : alone;
    const falseAlarm = isFar ? falseAlarmScore(...far, sides, reaches) : 1;
    return [Math.sqrt(((capture + nearMiss) / 2) * falseAlarm), capture, nearMiss, falseAlarm];
  }

  // The cuts and the scores of all events, and the means of these; none without an event.
  // events: [{start, stop}], ascending; series: {length, near, breaks}.
  function atLevel(events, series, levels, level) {
    const cuts = cutsOf(events, series);
    const scores = cuts.map((each) => scoresOf(each, series.near, levels, level));
    const means = [0, 1, 2, 3].map((part) => scores.reduce((sum, each) => sum + each[part], 0) / scores.length);
    return { cuts, scores, means: events.length ? means : null };
  }

  return { stretchOf, cutsOf, atLevel };
})();
