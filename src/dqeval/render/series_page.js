// The report's explorer. It draws what is in view and shows numbers that were computed in Python: for every detector
// and threshold, the scores of every event, in thousandths; and for every point, how many thresholds it reaches.
"use strict";
(async () => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const { events, thresholds, colours } = page;
  const steps = thresholds.length;
  const PARTS = 4; // DQE, capture, near miss, false alarm
  const PIECES = ["false alarm", "near miss", "capture", "near miss", "false alarm"];
  const MOST_TINTED_EVENTS = 400;
  const MOST_BARS = 4000;

  const values = page.values && decoded(page.values, Float32Array);
  for (const detector of page.detectors) {
    detector.scores = decoded(detector.scores, Float32Array);
    detector.levels = decoded(detector.levels, Uint8Array);
    detector.means = decoded(detector.means, Uint16Array);
    detector.perEvent = decoded(detector.perEvent, Uint16Array);
  }
  const borders = Float64Array.from([...events.flatMap((cuts) => cuts.slice(0, 5)), page.length]);
  const state = { detector: 0, step: page.detectors[0].start, stepChosen: false, event: null, overlaid: new Set() };

  await Bokeh.embed.embed_item(page.timePlots, "time-plots");
  await Bokeh.embed.embed_item(page.curvePlot, "curve-plot");
  await Bokeh.embed.embed_item(page.nearPlot, "near-plot");
  const view = model("view");
  const slider = document.getElementById("threshold");
  const rows = makeRows();

  function decoded(text, Type) {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
    return new Type(bytes.buffer);
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
    chosen().perEvent[(event * steps + step - 1) * PARTS + part];

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
    const first = Math.max(0, Math.floor(view.start) - 1);
    const stop = Math.min(page.length, Math.ceil(view.end) + 1);
    const columns = Math.max(200, document.getElementById("time-plots").clientWidth);
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
    return { x: points.map((t) => t + 0.5), y: points.map((t) => series[t]), point: points };
  }

  function drawRegions() {
    const columns = { x0: [], x1: [], colour: [], alpha: [] };
    const seen = events.filter((cuts) => cuts[5] > view.start && cuts[0] < view.end);
    for (const cuts of seen) {
      PIECES.forEach((kind, i) => {
        const worth = kind === "capture" || seen.length <= MOST_TINTED_EVENTS;
        if (cuts[i] === cuts[i + 1] || !worth) return;
        columns.x0.push(cuts[i]);
        columns.x1.push(cuts[i + 1]);
        columns.colour.push(colours[kind]);
        columns.alpha.push(kind === "capture" ? 0.34 : 0.13);
      });
    }
    for (const name of ["values-regions", "scores-regions"]) {
      const source = model(name);
      if (source) source.data = columns;
    }
  }

  function drawDetections() {
    const range = inView();
    let bars = [];
    for (let t = range.first; t < range.stop; t++) {
      if (chosen().levels[t] < state.step) continue;
      const start = t;
      while (t < range.stop && chosen().levels[t] >= state.step) t++;
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
    for (let i = lastAtOrBefore(start); i < borders.length - 1 && borders[i] < stop; i++) {
      const left = Math.max(start, borders[i]);
      const right = Math.min(stop, borders[i + 1]);
      if (left < right) bars.push({ left, right, kind: PIECES[i % PIECES.length] });
    }
    return bars;
  }

  function lastAtOrBefore(x) {
    let low = 0;
    let high = borders.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (borders[middle] <= x) low = middle;
      else high = middle - 1;
    }
    return low;
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
    model("mean-curve").data = curve((step) => chosen().means[(step - 1) * PARTS]);
    drawChosenCurve();
  }

  function drawChosenCurve() {
    const none = { x: [], y: [] };
    model("event-curve").data = state.event === null ? none : curve((step) => ofEvent(state.event, 0, step));
  }

  // In steps: a value holds from the next lower threshold up to its own, so the area below is the mean.
  function curve(read) {
    const edges = [0, ...thresholds];
    const x = thresholds.flatMap((threshold, k) => [edges[k], threshold]);
    const y = thresholds.flatMap((_, k) => [read(k + 1) / 1000, read(k + 1) / 1000]);
    return { x, y };
  }

  function drawColours() {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const soft = style.getPropertyValue("--soft").trim();
    for (const name of ["values-x", "values-y", "scores-x", "scores-y", "curve-x", "curve-y", "near-x", "near-y"]) {
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
    const means = [0, 1, 2, 3].map((part) => thousandths(chosen().means[(state.step - 1) * PARTS + part]));
    document.querySelectorAll("[data-mean]").forEach((cell) => {
      cell.textContent = means[cell.dataset.mean];
    });
    slider.setAttribute("aria-valuetext", `${shown}, DQE ${means[0]}`);
    model("threshold").location = threshold;
    model("cursor").location = threshold;
    // The rows may no longer be in the order that the head of a column promises.
    document.querySelector('[aria-sort]:not([data-sort="start"])')?.removeAttribute("aria-sort");
    for (const row of rows) {
      for (let part = 0; part < PARTS; part++) row.cells[part].textContent = thousandths(ofEvent(row.event, part));
    }
  }

  function showDetector() {
    for (const row of rows) {
      row.total.textContent = thousandths(chosen().dqe[row.event]);
      row.words.textContent = chosen().sentences[row.event];
    }
    document.getElementById("words-of").textContent =
      `${chosen().name}, near misses and false alarms at score ${chosen().startThreshold}`;
  }

  function makeRows() {
    const body = document.querySelector("#events tbody");
    return events.map((cuts, event) => {
      const line = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `[${cuts[2]}, ${cuts[3]})`;
      button.addEventListener("click", () => chooseEvent(event));
      head.append(button);
      if (page.times) {
        const time = document.createElement("small");
        time.textContent = page.times[event];
        head.append(document.createElement("br"), time);
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
    look(Math.max(left, start - around), Math.min(right, stop + around));
    for (const row of rows) row.line.setAttribute("aria-current", String(row.event === event));
    const words = chosen().sentences[event];
    document.getElementById("announcement").textContent =
      `Event ${event + 1} of ${events.length}, points ${start} to ${stop - 1}. ${words}`;
    soon(drawChosenCurve);
  }

  function showAll() {
    state.event = null;
    for (const row of rows) row.line.removeAttribute("aria-current");
    look(0, page.length);
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
  addEventListener("resize", () => window.dqevalReport.viewChanged());
  // Paper is white: black ink, whatever the screen has.
  addEventListener("beforeprint", drawColours);
  addEventListener("afterprint", drawColours);

  drawColours();
  chooseDetector(0);
  soon(drawRegions);
  document.documentElement.dataset.ready = "true";
})();
