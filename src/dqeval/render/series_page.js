// The report's explorer. It draws what is in view and shows numbers that were computed in Python: for every detector
// and threshold, the scores of every event, in thousandths. How many thresholds a point reaches follows from its score.
"use strict";
(async () => {
  if (!("DecompressionStream" in window)) {
    const told = document.createElement("p");
    told.textContent = "The drawings, the threshold slider and the table of events need a browser of 2023 or later.";
    document.querySelector(".controls").before(told);
    return;
  }
  const page = JSON.parse(document.getElementById("data").textContent);
  const { events, thresholds, colours } = page;
  const steps = thresholds.length;
  const PARTS = 4; // DQE, capture, near miss, false alarm
  const PIECES = ["false alarm", "near miss", "capture", "near miss", "false alarm"];
  const MOST_TINTED_EVENTS = 400;
  const MOST_BARS = 4000;
  const MOST_ROWS_AT_ONCE = 200;
  const PAUSE = 250; // milliseconds
  const inDigits = new Intl.NumberFormat("en");
  const UNITS = [["d", 864e11], ["h", 36e11], ["min", 6e10], ["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

  const values = page.values && (await unpacked(page.values, Float32Array));
  for (const detector of page.detectors) {
    detector.scores = await scoresOf(detector.scores);
    detector.levels = levelsOf(detector.scores);
    detector.means = await unpacked(detector.means, Uint16Array);
    detector.perEvent = await unpacked(detector.perEvent, Uint16Array);
  }
  // Behind a region there may be a stretch without an event, which is in no region.
  const borders = Float64Array.from([0, ...events.flat(), page.length]);
  const { origin, width, unit, resolution } = page.scale;
  const breaks = await unpacked(page.scale.breaks, Float64Array);
  const gaps = await unpacked(page.scale.gaps, Float64Array);
  const skipped = [0]; // cells that were not observed before each break, and in all
  for (const gap of gaps) skipped.push(skipped[skipped.length - 1] + gap);
  const gapEnds = breaks.map((position, i) => position + skipped[i + 1]); // the first cell behind each gap
  const state = { detector: 0, step: page.detectors[0].start, stepChosen: false, event: null, overlaid: new Set() };

  await Bokeh.embed.embed_item(page.timePlots, "time-plots");
  await Bokeh.embed.embed_item(page.curvePlot, "curve-plot");
  await Bokeh.embed.embed_item(page.alarmPlot, "alarm-plot");
  await Bokeh.embed.embed_item(page.nearPlot, "near-plot");
  const view = model("view");
  const slider = document.getElementById("threshold");
  const timePlots = document.getElementById("time-plots");
  let plotWidth = timePlots.clientWidth;
  const rows = makeRows();

  // An array that render/packing.py has packed: deflated, the first bytes of all numbers before the second ones.
  async function unpacked(text, Type) {
    const characters = atob(text);
    const deflated = new Uint8Array(characters.length);
    for (let i = 0; i < characters.length; i++) deflated[i] = characters.charCodeAt(i);
    const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const size = Type.BYTES_PER_ELEMENT;
    const length = planes.length / size;
    const bytes = new Uint8Array(planes.length);
    for (let plane = 0; plane < size; plane++) {
      for (let i = 0; i < length; i++) bytes[size * i + plane] = planes[length * plane + i];
    }
    return new Type(bytes.buffer);
  }

  // Of a step, the middle is drawn.
  async function scoresOf({ packed, steps: stepsToOne }) {
    if (stepsToOne === null) return unpacked(packed, Float32Array);
    const found = await unpacked(packed, Uint16Array);
    const scores = new Float32Array(found.length);
    for (let t = 0; t < found.length; t++) scores[t] = (found[t] - 2.5) / stepsToOne;
    return scores;
  }

  // How many thresholds each score reaches. They are even, but for rounding.
  function levelsOf(scores) {
    const levels = new Uint8Array(scores.length);
    for (let t = 0; t < scores.length; t++) {
      let level = Math.min(steps, Math.floor(steps * scores[t]));
      if (level < steps && scores[t] >= thresholds[level]) level++;
      else if (level > 0 && scores[t] < thresholds[level - 1]) level--;
      levels[t] = level;
    }
    return levels;
  }

  function model(name) {
    for (const document of Bokeh.documents) {
      const found = document.get_model_by_name(name);
      if (found) return found;
    }
    return null;
  }

  const thousandths = (number) => (number / 1000).toFixed(3);
  const chosen = () => page.detectors[state.detector];
  const ofEvent = (event, part, step = state.step) =>
    chosen().perEvent[(event * PARTS + part) * steps + step - 1];

  // Time -------------------------------------------------------------------------------------------------------------
  // A position counts what was observed. Its cell is behind all gaps before it, and is drawn at origin + cell * width.

  // How many of some ascending numbers pass: those at or below x, or only those below it.
  function passed(numbers, x, { below = false } = {}) {
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (below ? numbers[middle] < x : numbers[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Where what starts at a position is drawn, behind a gap there; and what ends at it, before the gap.
  function startX(position) {
    return origin + width * (position + skipped[passed(breaks, position)]);
  }

  function endX(position) {
    return origin + width * (position + skipped[passed(breaks, position, { below: true })]);
  }

  // The position at x; in a gap, that behind it.
  function positionAt(x) {
    const cell = (x - origin) / width;
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

  // The event whose region a position is in, and which of its pieces; none where there is no region.
  function pieceAt(border) {
    const piece = (border - 1) % (PIECES.length + 1);
    return border > 0 && piece < PIECES.length ? [Math.floor((border - 1) / (PIECES.length + 1)), PIECES[piece]] : [];
  }

  // What a point is to the event whose region it is in.
  function placeOf(point) {
    const [event, kind] = pieceAt(passed(borders, point) - 1);
    if (kind === undefined) return "in no region of an event";
    const [, , start, stop] = events[event];
    const name = page.names.length ? `event ${event + 1}, ${page.names[event]}` : `event ${event + 1}`;
    if (kind === "capture") return `${lasting(point - start)} after the start of ${name}`;
    const early = point < start;
    const distance = early ? start - point - 1 : point - stop;
    if (distance === 0) return `right ${early ? "before" : "after"} ${name} (${kind})`;
    return `${lasting(distance)} ${early ? "early" : "late"} for ${name} (${kind})`;
  }

  // Drawing ----------------------------------------------------------------------------------------------------------

  const pending = new Set();

  function soon(draw) {
    if (pending.size === 0) {
      requestAnimationFrame(() => {
        const draws = [...pending];
        pending.clear();
        for (const each of draws) each();
      });
    }
    pending.add(draw);
  }

  function inView() {
    const first = Math.max(0, Math.floor(positionAt(view.start)) - 1);
    const stop = Math.min(page.length, Math.ceil(positionAt(view.end)) + 1);
    const columns = Math.max(200, plotWidth);
    return { first, stop, columns, pixel: (view.end - view.start) / columns };
  }

  function drawLines() {
    const range = inView();
    if (values) model("values").data = thinned(values, range);
    page.detectors.forEach((detector, i) => {
      const shown = i === state.detector || state.overlaid.has(i);
      const line = model(`scores-${i}-line`);
      line.visible = shown;
      line.glyph.line_width = i === state.detector ? 1.8 : 1;
      if (shown) model(`scores-${i}`).data = thinned(detector.scores, range);
    });
  }

  // The lowest and the highest point of every pixel column, in time order: what a full drawing would show.
  function thinned(series, { first, stop, columns }) {
    const points = [];
    if (stop - first <= 3 * columns) {
      for (let t = first; t < stop; t++) points.push(t);
    } else {
      for (let column = 0; column < columns; column++) {
        const from = first + Math.floor(((stop - first) * column) / columns);
        const to = first + Math.floor(((stop - first) * (column + 1)) / columns);
        let low = from;
        let high = from;
        for (let t = from + 1; t < to; t++) {
          // A missing value, NaN, gives way to any other.
          if (series[t] < series[low] || Number.isNaN(series[low])) low = t;
          if (series[t] > series[high] || Number.isNaN(series[high])) high = t;
        }
        points.push(Math.min(low, high));
        if (low !== high) points.push(Math.max(low, high));
      }
    }
    return line(points, series);
  }

  // A point is drawn in the middle of its cell. The line is broken where there is a gap, and a point between two gaps is
  // as wide as its cell, so that it can be seen.
  function line(points, series) {
    const columns = { x: [], y: [], point: [], at: [], place: [] };
    const add = (x, t, y) => {
      columns.x.push(x);
      columns.y.push(y);
      columns.point.push(t);
      columns.at.push(startX(t));
      columns.place.push(placeOf(t));
    };
    const stretches = points.map((t) => passed(breaks, t));
    points.forEach((t, i) => {
      const begins = i > 0 && stretches[i] !== stretches[i - 1];
      const ends = i < points.length - 1 && stretches[i] !== stretches[i + 1];
      const alone = (begins || (t === 0 && ends)) && (ends || t === page.length - 1);
      if (begins) add(startX(t), t, NaN);
      if (alone) add(startX(t), t, series[t]);
      add(alone ? endX(t + 1) : startX(t + 0.5), t, series[t]);
    });
    return columns;
  }

  function drawRegions() {
    const columns = { x0: [], x1: [], colour: [], alpha: [] };
    const { first, stop, pixel } = inView();
    const seen = events.filter((cuts) => cuts[5] > first && cuts[0] < stop);
    for (const cuts of seen) {
      PIECES.forEach((kind, i) => {
        const worth = kind === "capture" || seen.length <= MOST_TINTED_EVENTS;
        if (cuts[i] === cuts[i + 1] || !worth) return;
        columns.x0.push(startX(cuts[i]));
        columns.x1.push(endX(cuts[i + 1]));
        columns.colour.push(colours[kind]);
        columns.alpha.push(kind === "capture" ? 0.34 : 0.13);
      });
    }
    for (const name of ["values-regions", "scores-regions"]) {
      const source = model(name);
      if (source) source.data = columns;
    }
    drawGaps(pixel);
  }

  // Gaps that are less than a pixel apart are drawn as one.
  function drawGaps(pixel) {
    const found = [];
    for (let i = passed(gapEnds, (view.start - origin) / width); i < breaks.length; i++) {
      const [left, right] = [endX(breaks[i]), startX(breaks[i])];
      if (left > view.end) break;
      const last = found[found.length - 1];
      if (last && left - last.right < pixel) {
        last.right = right;
        last.cells += gaps[i];
      } else found.push({ left, right, cells: gaps[i] });
    }
    const columns = {
      x0: found.map((gap) => gap.left),
      x1: found.map((gap) => gap.right),
      lasting: found.map((gap) => lasting(gap.cells)),
    };
    for (const name of ["values-gaps", "scores-gaps"]) {
      const source = model(name);
      if (source) source.data = columns;
    }
  }

  function drawDetections() {
    const range = inView();
    let bars = [];
    const { levels } = chosen();
    for (let t = range.first; t < range.stop; ) {
      if (levels[t] < state.step) {
        t++;
        continue;
      }
      const start = t;
      const stop = Math.min(range.stop, breaks[passed(breaks, start)] ?? Infinity);
      while (t < stop && levels[t] >= state.step) t++;
      bars.push(...cutAtBorders(start, t));
    }
    if (bars.length > MOST_BARS) bars = joined(bars, range.pixel);
    // What is narrower than two pixels would not be seen.
    const width = 2 * range.pixel;
    model("detections").data = {
      left: bars.map((bar) => bar.left),
      right: bars.map((bar) => Math.max(bar.right, bar.left + width)),
      colour: bars.map((bar) => colours[bar.kind]),
    };
  }

  function cutAtBorders(start, stop) {
    const bars = [];
    for (let i = passed(borders, start) - 1; i < borders.length - 1 && borders[i] < stop; i++) {
      const left = Math.max(start, borders[i]);
      const right = Math.min(stop, borders[i + 1]);
      const [, kind = "no region"] = pieceAt(i);
      if (left < right) bars.push({ left: startX(left), right: endX(right), kind });
    }
    return bars;
  }

  function joined(bars, gap) {
    const found = [];
    for (const bar of bars) {
      const last = found[found.length - 1];
      if (last && last.kind === bar.kind && bar.left - last.right < gap) last.right = bar.right;
      else found.push(bar);
    }
    return found;
  }

  function drawCurves() {
    const each = events.map((_, i) => curve((step) => ofEvent(i, 0, step)));
    model("event-curves").data = { xs: each.map(({ x }) => x), ys: each.map(({ y }) => y) };
    model("mean-curve").data = curve((step) => chosen().means[step - 1]);
    drawChosenCurve();
  }

  function drawChosenCurve() {
    const none = { x: [], y: [] };
    model("event-curve").data = state.event === null ? none : curve((step) => ofEvent(state.event, 0, step));
  }

  // In steps: a value holds from the next lower threshold up to its own, so the area below is the mean.
  function curve(read) {
    const x = [0];
    const y = [read(1) / 1000];
    for (let step = 2; step <= steps; step++) {
      const [before, now] = [y[y.length - 1], read(step) / 1000];
      if (now === before) continue;
      x.push(thresholds[step - 2], thresholds[step - 2]);
      y.push(before, now);
    }
    x.push(thresholds[steps - 1]);
    y.push(y[y.length - 1]);
    return { x: Float64Array.from(x), y: Float64Array.from(y) };
  }

  function drawColours() {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const soft = style.getPropertyValue("--soft").trim();
    for (const name of ["values-x", "values-y", "scores-x", "scores-y", "curve-x", "curve-y", "alarm-x", "alarm-y", "near-x", "near-y"]) {
      const axis = model(name);
      if (!axis) continue;
      axis.axis_label_text_color = axis.major_label_text_color = soft;
      axis.axis_line_color = axis.major_tick_line_color = soft;
    }
    for (const name of ["threshold", "cursor", "near-in-use"]) model(name).line_color = ink;
    model("mean-line").glyph.line_color = ink;
    if (values) model("values-line").glyph.line_color = ink;
  }

  // Numbers ----------------------------------------------------------------------------------------------------------

  function showThreshold() {
    const threshold = thresholds[state.step - 1];
    slider.value = state.step;
    const shown = `${threshold.toFixed(2)} (score ${chosen().rawThresholds[state.step - 1]})`;
    document.getElementById("threshold-value").textContent = shown;
    const means = [0, 1, 2, 3].map((part) => thousandths(chosen().means[part * steps + state.step - 1]));
    document.querySelectorAll("[data-mean]").forEach((cell) => {
      cell.textContent = means[cell.dataset.mean];
    });
    slider.setAttribute("aria-valuetext", `${shown}, DQE ${means[0]}`);
    model("threshold").location = threshold;
    model("cursor").location = threshold;
    // The rows may no longer be in the order that the head of a column promises.
    document.querySelector('[aria-sort]:not([data-sort="start"])')?.removeAttribute("aria-sort");
    showRows();
  }

  function showDetector() {
    document.getElementById("words-of").textContent =
      chosen().name + (chosen().isScores ? `, near misses and false alarms at score ${chosen().startThreshold}` : "");
  }

  // To lay out thousands of rows takes longer than a frame: those out of view follow when the reader pauses.
  const waiting = new Set();
  const rowsInView = new Set();
  let pause = null;

  function showRows() {
    const now = rows.length > MOST_ROWS_AT_ONCE ? rowsInView : rows;
    for (const row of rows) waiting.add(row);
    for (const row of now) showRow(row);
    clearTimeout(pause);
    pause = setTimeout(showWaitingRows, PAUSE);
  }

  function showWaitingRows() {
    for (const row of waiting) showRow(row);
  }

  function showRow(row) {
    waiting.delete(row);
    write(row.total, thousandths(chosen().dqe[row.event]));
    row.cells.forEach((cell, part) => write(cell, thousandths(ofEvent(row.event, part))));
    write(row.words, chosen().sentences[row.event]);
  }

  function write(cell, text) {
    if (cell.textContent !== text) cell.textContent = text;
  }

  function watchRows() {
    const rowOf = new Map(rows.map((row) => [row.line, row]));
    const observer = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        const row = rowOf.get(target);
        rowsInView[isIntersecting ? "add" : "delete"](row);
        if (isIntersecting && waiting.has(row)) showRow(row);
      }
    });
    for (const row of rows) observer.observe(row.line);
  }

  // What an event is called, and what else is known of it: its name, when it was or where, and on a clock how long.
  function wordsOf(event) {
    const [, , start, stop] = events[event];
    const points = `[${start}, ${stop})`;
    const time = page.times?.[event];
    const lasts = `${lasting(stop - start)}, ${unit}s ${points}`;
    const place = unit === "cell" ? [time, lasts] : [points, ...(time ? [time] : [])];
    return page.names.length ? [page.names[event], ...place] : place;
  }

  function makeRows() {
    const body = document.querySelector("#events tbody");
    return events.map((cuts, event) => {
      const line = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      const button = document.createElement("button");
      button.type = "button";
      const [title, ...others] = wordsOf(event);
      button.textContent = title;
      button.className = page.names.length ? "named" : "";
      button.addEventListener("click", () => chooseEvent(event));
      head.append(button);
      for (const words of others) {
        const small = document.createElement("small");
        small.textContent = words;
        head.append(document.createElement("br"), small);
      }
      line.append(head);
      const total = line.insertCell();
      const cells = Array.from({ length: PARTS }, () => line.insertCell());
      return { event, line, total, cells, words: line.insertCell() };
    });
  }

  function sortBy(head) {
    const key = head.dataset.sort;
    const ascending = head.getAttribute("aria-sort") !== "ascending";
    for (const other of document.querySelectorAll("[data-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const value = {
      start: (row) => row.event,
      total: (row) => chosen().dqe[row.event],
    }[key] ?? ((row) => ofEvent(row.event, Number(key)));
    const sorted = [...rows].sort((a, b) => (ascending ? 1 : -1) * (value(a) - value(b)));
    document.querySelector("#events tbody").append(...sorted.map((row) => row.line));
  }

  // What the reader does ---------------------------------------------------------------------------------------------

  function chooseStep(step) {
    state.step = Math.min(steps, Math.max(1, step));
    state.stepChosen = true;
    soon(showThreshold);
    soon(drawDetections);
  }

  function chooseDetector(detector) {
    state.detector = detector;
    if (!state.stepChosen) state.step = chosen().start;
    for (const draw of [showDetector, showThreshold, drawLines, drawDetections, drawCurves]) soon(draw);
  }

  function chooseEvent(event) {
    state.event = event;
    const [left, , start, stop, , right] = events[event];
    const around = Math.max(2 * page.near, 2 * (stop - start), 20);
    look(startX(Math.max(left, start - around)), endX(Math.min(right, stop + around)));
    for (const row of rows) row.line.setAttribute("aria-current", String(row.event === event));
    const words = chosen().sentences[event];
    const title = unit === "cell" ? wordsOf(event).slice(0, -1).join(", ") : `points ${start} to ${stop - 1}`;
    document.getElementById("announcement").textContent = `Event ${event + 1} of ${events.length}, ${title}. ${words}`;
    soon(drawChosenCurve);
  }

  function showAll() {
    state.event = null;
    for (const row of rows) row.line.removeAttribute("aria-current");
    look(startX(0), endX(page.length));
    soon(drawChosenCurve);
  }

  function look(start, end) {
    view.setv({ start, end });
  }

  function go(by) {
    const last = events.length - 1;
    if (state.event === null) chooseEvent(by > 0 ? 0 : last);
    else chooseEvent(Math.min(last, Math.max(0, state.event + by)));
    rows[state.event].line.scrollIntoView({ block: "nearest" });
  }

  window.dqevalReport = {
    viewChanged() {
      for (const draw of [drawLines, drawRegions, drawDetections]) soon(draw);
    },
    chooseThreshold: (threshold) => chooseStep(Math.round(threshold * steps)),
    view: () => [view.start, view.end],
    detections: () => model("detections").data,
  };
  slider.addEventListener("input", () => chooseStep(Number(slider.value)));
  for (const input of document.querySelectorAll("[name=detector]")) {
    input.addEventListener("change", () => chooseDetector(Number(input.value)));
  }
  for (const input of document.querySelectorAll("[name=overlay]")) {
    input.addEventListener("change", () => {
      state.overlaid[input.checked ? "add" : "delete"](Number(input.value));
      soon(drawLines);
    });
  }
  for (const head of document.querySelectorAll("[data-sort]")) {
    head.querySelector("button").addEventListener("click", () => sortBy(head));
  }
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("all").addEventListener("click", showAll);
  document.addEventListener("keydown", (key) => {
    if (key.ctrlKey || key.metaKey || key.altKey) return;
    const does = { n: () => go(1), p: () => go(-1), a: showAll }[key.key];
    if (does) does();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => soon(drawColours));
  new ResizeObserver(() => {
    if (timePlots.clientWidth === plotWidth) return;
    plotWidth = timePlots.clientWidth;
    window.dqevalReport.viewChanged();
  }).observe(timePlots);
  // Paper is white: black ink, whatever the screen has.
  addEventListener("beforeprint", drawColours);
  addEventListener("beforeprint", showWaitingRows);
  addEventListener("afterprint", drawColours);

  drawColours();
  chooseDetector(0);
  soon(drawRegions);
  soon(showWaitingRows);
  watchRows();
  document.documentElement.dataset.ready = "true";
})();
