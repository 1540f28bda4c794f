// The report's explorer, put together: what the reader does changes pageState, and what changes there is shown. All
// numbers were computed in Python: for every detector and threshold, the scores of every event, in thousandths.
(async () => {
  "use strict";
  if (!document.documentElement.classList.contains("live")) return; // the page says why
  const { soon, model } = seriesPlots;
  const page = await pageData.read();
  const axis = timeAxis.of(page.scale);
  const numbers = pageNumbers.of(page);
  const plots = await seriesPlots.of(page, axis, numbers);
  const table = eventTable.of(page, axis, numbers);
  const filters = eventFilters.of(page, numbers);
  const alarms = alarmBudget.of(page, axis, numbers);
  const editor = labelEditor.of({ page, axis, numbers, plots, changed: () => soon(showThreshold) });
  const slider = document.getElementById("threshold");

  // What is seen ----------------------------------------------------------------------------------------------------

  function showThreshold() {
    const [detector, step] = [numbers.detector(), numbers.step()];
    slider.value = step;
    const shown = `${page.thresholds[step - 1].toFixed(2)} (score ${detector.rawThresholds[step - 1]})`;
    document.getElementById("threshold-value").textContent = shown;
    const means = editor.means() ?? [0, 1, 2, 3].map((part) => pageNumbers.thousandths(numbers.mean(part)));
    document.querySelectorAll("[data-mean]").forEach((cell) => {
      cell.textContent = means[cell.dataset.mean];
    });
    const interval = detector.intervals?.map((ends) => pageNumbers.thousandths(ends[step - 1]));
    document.getElementById("mean-interval").textContent = interval && !editor.isOn() ? `[${interval.join(", ")}]` : "";
    slider.setAttribute("aria-valuetext", `${shown}, DQE ${means[0]}`);
    document.getElementById("suggested").disabled = step === detector.start;
    plots.drawThreshold();
    // The rows may no longer be in the order that the head of a column promises.
    document.querySelector('[aria-sort]:not([data-sort="start"])')?.removeAttribute("aria-sort");
    table.showRows();
  }

  function showDetector() {
    const detector = numbers.detector();
    document.getElementById("words-of").textContent =
      detector.name + (detector.isScores ? `, near misses and false alarms at score ${detector.startThreshold}` : "");
  }

  function showControls() {
    const { detector, overlay } = pageState.get();
    for (const input of document.querySelectorAll("[name=detector]")) input.checked = Number(input.value) === detector;
    for (const input of document.querySelectorAll("[name=overlay]")) {
      input.checked = overlay.includes(Number(input.value));
    }
  }

  // The part of the series that belongs to a state: as it was zoomed to, or around the chosen event, or all.
  function viewOf({ zoom, event }) {
    if (zoom !== null) return zoom.map(axis.cellX);
    if (event === null) return [axis.startX(0), axis.endX(page.length)];
    const [left, , start, stop, , right] = page.events[event];
    const around = Math.max(2 * page.near, 2 * (stop - start), 20);
    return [axis.startX(Math.max(left, start - around)), axis.endX(Math.min(right, stop + around))];
  }

  const SHOWS = [
    [["detector"], [showDetector, plots.drawCurves]],
    [["detector", "threshold", "budget"], [showThreshold, plots.drawDetections, alarms.show]],
    [["detector", "threshold", "budget", "filters"], [showFiltered]],
    [["detector", "overlay"], [showControls, plots.drawLines]],
    [["event"], [table.showChosen, plots.drawChosenCurve]],
  ];

  // Which events are shown may depend on the threshold; nothing is drawn again as long as they are the same ones.
  let filtered = null;

  function showFiltered() {
    filters.show();
    const now = page.events.map((_, i) => numbers.isShown(i)).join();
    if (now === filtered) return;
    filtered = now;
    table.filterRows();
    plots.drawEvents();
    plots.drawEventCurves();
  }

  function show(state, changed, { passing }) {
    for (const [keys, draws] of SHOWS) {
      if (keys.some((key) => changed.has(key))) draws.forEach(soon);
    }
    // While the reader drags the view, it is where it should be.
    if ((changed.has("zoom") || changed.has("event")) && !passing) plots.look(viewOf(state));
  }

  // What the reader does ---------------------------------------------------------------------------------------------

  const hundredths = (number) => Math.round(100 * number) / 100;

  function viewChanged() {
    plots.drawView();
    const shown = plots.view().map(axis.cellAt).map(hundredths);
    const same = (view) => view.map(axis.cellAt).map(hundredths).join() === shown.join();
    const state = pageState.get();
    if (same(viewOf(state))) return;
    pageState.update({ zoom: same(viewOf({ ...state, zoom: null })) ? null : shown }, { passing: true });
  }

  function chooseStep(step) {
    pageState.update({ threshold: Math.min(numbers.steps, Math.max(1, step)), budget: null }, { passing: true });
  }

  function go(by) {
    const { event } = pageState.get();
    const last = page.events.length - 1;
    let next = event === null ? (by > 0 ? 0 : last) : event + by;
    while (next >= 0 && next <= last && !numbers.isShown(next)) next += by;
    if (next < 0 || next > last) return;
    pageState.update({ event: next, zoom: null });
    table.scrollTo(next);
  }

  // Letters that are typed into a field are no commands.
  const isWritten = (target) => target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=range])");

  const showAll = () => pageState.update({ event: null, zoom: null });

  slider.addEventListener("input", () => chooseStep(Number(slider.value)));
  for (const input of document.querySelectorAll("[name=detector]")) {
    input.addEventListener("change", () => pageState.update({ detector: Number(input.value) }));
  }
  for (const input of document.querySelectorAll("[name=overlay]")) {
    input.addEventListener("change", () => {
      const others = pageState.get().overlay.filter((i) => i !== Number(input.value));
      const chosen = input.checked ? [Number(input.value)] : [];
      pageState.update({ overlay: [...others, ...chosen].sort((a, b) => a - b) });
    });
  }
  document.getElementById("suggested").addEventListener("click", () => pageState.update({ threshold: null, budget: null }));
  pageLink.offerCopy(document.getElementById("copy-link"), document.getElementById("copied"));
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("all").addEventListener("click", showAll);
  document.addEventListener("keydown", (key) => {
    if (key.ctrlKey || key.metaKey || key.altKey || isWritten(key.target)) return;
    const does = { n: () => go(1), p: () => go(-1), a: showAll }[key.key];
    if (does) does();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => soon(plots.drawColours));
  // Paper is white: black ink, whatever the screen has.
  addEventListener("beforeprint", plots.drawColours);
  addEventListener("afterprint", plots.drawColours);

  // For what Bokeh calls, for other scripts of the page, and for tests.
  window.dqevalReport = {
    page,
    axis,
    numbers,
    plots,
    model,
    editor,
    viewChanged,
    chooseThreshold: (threshold) => chooseStep(Math.round(threshold * numbers.steps)),
    chooseBudget: alarms.choosePlace,
    view: plots.view,
    detections: () => model("detections").data,
  };
  pageLink.follow(page);
  pageState.subscribe(show);
  plots.drawColours();
  plots.look(viewOf(pageState.get()));
  for (const [, draws] of SHOWS) draws.forEach(soon);
  soon(plots.drawEvents);
  soon(table.showWaitingRows);
  document.documentElement.dataset.ready = "true";
})();
