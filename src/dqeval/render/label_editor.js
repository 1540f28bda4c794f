// The mode in which labels are corrected. The corrected events have their own strip, form and table; their scores at
// the threshold in view are computed here, by the definition (event_scores.js). Everything else on the page stays of
// the file's labels, and the banner says so wherever the reader is.
const labelEditor = (() => {
  "use strict";
  const { soon } = seriesPlots;
  const find = (id) => document.getElementById(id);
  const { counted, inDigits } = labelViews;
  const threeDigits = (number) => number.toFixed(3);
  const WRITTEN = "textarea, select, input:not([type=radio], [type=checkbox], [type=range])"; // where letters are text

  // `changed` is called when the means at the threshold may have changed.
  function of({ page, axis, numbers, plots, changed }) {
    const series = { length: page.length, near: page.near, breaks: axis.breaks };
    const nameOf = (id) => page.names[id] ?? "";
    const original = page.events.map(([, , start, stop], id) => ({ id, start, stop, name: nameOf(id), note: "" }));
    const store = labelStore.of(page.key);
    const edits = labelEdits.history(original, series, eventsChanged);
    let times = labelFiles.timesOf(null); // until the clock is unpacked
    const views = labelViews.of({ axis, series, original, plots, times: () => times, lookAt });
    let preview = null; // events while something is dragged
    let drawn = null; // the events in the plots
    let chosen = null; // the id of an event
    let isKept = store.works();
    let wasOn = false;
    let scored = null; // what was computed last, and from what
    let discarded = null; // corrections that can be brought back

    const isOn = () => pageState.get().correcting;
    const events = () => preview ?? edits.events();
    const placeOf = (id) => events().findIndex((event) => event.id === id);
    const chosenEvent = () => events().find((event) => event.id === chosen) ?? null;

    // Scores ----------------------------------------------------------------------------------------------------------

    function scores() {
      const [now, { levels }, step] = [events(), numbers.detector(), numbers.step()];
      if (scored?.now !== now || scored.levels !== levels || scored.step !== step) {
        scored = { now, levels, step, ...eventScores.atLevel(now, series, levels, step) };
      }
      return scored;
    }

    // Edits -----------------------------------------------------------------------------------------------------------

    function eventsChanged() {
      preview = null;
      isKept = edits.canUndo() || edits.canRedo() ? store.write(edits.kept()) : store.remove();
      discarded = null;
      show();
    }

    function show() {
      for (const draw of [showBanner, showEvents]) soon(draw);
      changed();
    }

    function edit(from, to, kind) {
      if (from || to) edits.edit(from, to, kind);
    }

    // While a drag is not over, its event is shown where it would be.
    function change(from, to, isOver) {
      preview = null;
      if (isOver) return edit(from, to);
      preview = labelEdits.applied(edits.events(), { from, to });
      show();
    }

    function moved(id, border, position) {
      const now = edits.events();
      const i = now.findIndex((event) => event.id === id);
      return i < 0 ? [null, null] : [now[i], labelEdits.moved(now, i, border, position, series)];
    }

    const acts = {
      choose(id) {
        if (chosen === id) return;
        chosen = id;
        soon(showEvents);
      },
      move: (id, border, position, isOver) => change(...moved(id, border, position), isOver),
      nudge(id, border, by) {
        const event = edits.events().find((each) => each.id === id);
        acts.push(id, border, event[border] + by);
      },
      push(id, border, to) {
        edit(...moved(id, border, to), `${border} of ${id}`);
        acts.reveal(id, border);
      },
      // Moves the view to a border that is out of it.
      reveal(id, border) {
        const event = events()[placeOf(id)];
        const cell = axis.cellAt(border === "start" ? axis.startX(event.start) : axis.endX(event.stop));
        const [low, high] = plots.view().map(axis.cellAt);
        if (cell >= low && cell <= high) return;
        const first = Math.min(page.cells - (high - low), Math.max(0, cell - (high - low) / 2));
        look(first, first + high - low);
      },
      add(point, other, isOver) {
        const free = labelEdits.between(edits.events(), point, other, series);
        if (!free) return;
        const added = { id: edits.newId(), ...free, name: "", note: "" };
        chosen = added.id;
        change(null, added, isOver);
        if (isOver) say(`Event added: ${views.titleOf(added)}.`);
      },
      cancel() {
        preview = null;
        show();
      },
      remove(id) {
        const i = placeOf(id);
        const event = events()[i];
        const next = events()[i + 1] ?? events()[i - 1] ?? null;
        chosen = next?.id ?? null;
        edit(event, null);
        say(`Event deleted: ${views.titleOf(event)}.`);
        soon(() => (next ? lane.focus(next.id) : find("label-add").focus()));
      },
    };
    const lane = labelLane.of(find("label-lane"), { axis, plots, acts });

    // In the middle of what is in view, or as near to it as there is room.
    function addInView() {
      const [low, high] = plots.view().map(axis.positionAt);
      const [first, last] = [Math.max(0, Math.floor(low)), Math.min(page.length, Math.ceil(high)) - 1];
      const middle = Math.floor((first + last) / 2);
      const half = Math.max(0, Math.floor((last - first) / 40));
      for (let away = 0; away <= last - first; away++) {
        const point = middle + (away % 2 ? 1 : -1) * Math.ceil(away / 2);
        const free = point >= first && point <= last && labelEdits.freeAround(edits.events(), point, series);
        if (!free) continue;
        const start = Math.max(free[0], point - half);
        acts.add(start, Math.min(free[1] - 1, point + half), true);
        return soon(() => lane.focus(chosen));
      }
      say("There is no room for another event in view.");
    }

    function go(by) {
      const now = events();
      if (!now.length) return;
      const i = placeOf(chosen);
      lookAt(now[i < 0 ? (by > 0 ? 0 : now.length - 1) : Math.min(now.length - 1, Math.max(0, i + by))]);
    }

    const look = (...cells) => pageState.update({ event: null, zoom: cells.map((cell) => Math.round(100 * cell) / 100) });

    function lookAt(event) {
      chosen = event.id;
      const [left, right] = [axis.startX(event.start), axis.endX(event.stop)].map(axis.cellAt);
      const around = Math.max(2 * page.near, 2 * (event.stop - event.start), 20);
      look(Math.max(0, left - around), Math.min(page.cells, right + around));
      soon(showEvents);
    }

    // What is seen ----------------------------------------------------------------------------------------------------

    function say(text) {
      find("label-announcement").textContent = text;
    }

    function showEvents() {
      if (!isOn()) return;
      const now = events();
      const { cuts, scores: found } = scores();
      if (now !== drawn) plots.showEvents(cuts, now.map((event) => event.name));
      drawn = now;
      find("label-crowded").hidden = !lane.draw(now, chosen, (event, border) => views.borderWords(now, event, border));
      showForm();
      views.showTable(now, found, chosen);
      find("label-undo").disabled = !edits.canUndo();
      find("label-redo").disabled = !edits.canRedo();
      find("label-discard").disabled = !edits.canUndo();
    }

    const showForm = () => views.showForm(events(), placeOf(chosen));

    function changesInWords() {
      const { moved: shifted, added, deleted, noted } = edits.changes();
      const counts = [[shifted, "moved"], [added, "added"], [deleted, "deleted"]].filter(([count]) => count > 0);
      const notes = noted ? [counted(noted, "note")] : [];
      const first = counts.map(([count, how], i) => `${i ? inDigits(count) : counted(count, "event")} ${how}`);
      return { differs: counts.length > 0, words: [...first, ...notes].join(", ") };
    }

    function showBanner() {
      const { differs, words } = changesInWords();
      const correcting = isOn();
      const same = `${discarded ? "Corrections discarded: labels" : "Labels"} are the file's${words && `, with ${words}`}.`;
      // While labels are corrected it is always there, so that nothing moves when they begin to differ.
      find("labels-differ").hidden = !words && !correcting && !discarded;
      find("labels-back").hidden = !discarded;
      find("labels-discard").hidden = !words;
      find("labels-differ-words").textContent = differs ? `Labels differ from the file's: ${words}.` : same;
      find("labels-differ-what").textContent = correcting
        ? "Regions, detections and scores at the threshold follow your corrections; all else here is of the file's labels."
        : differs
          ? "All that this page shows now is of the file's labels."
          : "";
      find("labels-show").hidden = correcting;
      find("label-kept").textContent = isKept
        ? "Corrections are kept in this browser: they are still there after a reload."
        : "This browser keeps nothing for this page: corrections are lost when it is closed. Export them before.";
      find("label-kept").classList.toggle("warning", !isKept);
    }

    // The mode --------------------------------------------------------------------------------------------------------

    async function showMode() {
      // Only who corrects labels waits for the times of all points.
      if (isOn() && page.clock && !times.isKnown) {
        times = labelFiles.timesOf(await pageData.clockOf(page), axis.breaks, axis.gaps);
      }
      const on = isOn();
      document.documentElement.classList.toggle("correcting", on);
      drawn = null;
      find("correct-labels").setAttribute("aria-pressed", String(on));
      if (!on && wasOn) plots.showEvents(page.events);
      wasOn = on;
      show();
    }

    const toggle = () => pageState.update({ correcting: !isOn() });

    function discard() {
      const before = edits.kept();
      edits.discard();
      discarded = before;
    }

    const bringBack = () => discarded && edits.restore(discarded);

    function undo() {
      if (edits.undo() !== false) say("Undone.");
    }

    function redo() {
      if (edits.redo() !== false) say("Done again.");
    }

    const fileName = page.name.replace(/\.[a-z]+(\.gz)?$/i, ""); // without its ending

    function download(name, type, text) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = `${fileName.replace(/[^\p{L}\p{N}._-]+/gu, "_") || "series"}-${name}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }

    const EXPORTS = {
      labels: () => download("labels.csv", "text/csv", labelFiles.labelsCsv(edits.events(), page.length, times)),
      intervals: () => download("intervals.csv", "text/csv", labelFiles.intervalsCsv(edits.events(), times)),
      studio() {
        download("intervals.json", "application/json", labelFiles.labelStudioJson(edits.events(), fileName, times));
      },
    };

    for (const id of ["correct-labels", "labels-show", "label-done"]) find(id).addEventListener("click", toggle);
    find("label-add").addEventListener("click", addInView);
    find("label-undo").addEventListener("click", undo);
    find("label-redo").addEventListener("click", redo);
    for (const id of ["label-discard", "labels-discard"]) find(id).addEventListener("click", discard);
    find("labels-back").addEventListener("click", bringBack);
    for (const button of document.querySelectorAll("[data-export]")) {
      button.addEventListener("click", EXPORTS[button.dataset.export]);
    }
    find("label-delete").addEventListener("click", () => acts.remove(chosen));
    find("label-form").addEventListener("submit", (submitted) => submitted.preventDefault());
    for (const border of ["start", "stop"]) {
      find(`label-${border}`).addEventListener("change", ({ target }) => {
        if (target.value !== "") acts.push(chosen, border, Number(target.value));
        soon(showForm);
      });
    }
    find("label-note").maxLength = labelEdits.LONGEST_NOTE;
    find("label-note").addEventListener("input", ({ target }) => {
      const event = chosenEvent();
      edit(event, labelEdits.noted(event, target.value), `note of ${chosen}`);
    });
    // Before the keys of the page, which go through the file's events.
    addEventListener(
      "keydown",
      (key) => {
        if (!isOn() || key.altKey || key.target.matches?.(WRITTEN)) return;
        const command = key.ctrlKey || key.metaKey;
        const letter = key.key.toLowerCase();
        const does = command
          ? { z: key.shiftKey ? redo : undo, y: redo }[letter]
          : { n: () => go(1), p: () => go(-1) }[key.key];
        if (!does) return;
        key.preventDefault();
        key.stopPropagation();
        does();
      },
      true,
    );
    addEventListener("beforeunload", (event) => {
      if (!isKept && edits.canUndo()) event.preventDefault();
    });
    store.follow((text) => (text === null ? edits.discard() : edits.restore(text)));
    pageState.subscribe((state, what) => {
      if (what.has("correcting")) showMode();
      else if (state.correcting) soon(showEvents);
    });
    new ResizeObserver(() => soon(showEvents)).observe(find("time-plots"));
    const before = store.read();
    if (before !== null) edits.restore(before);
    showMode();

    return {
      isOn,
      // What is shown for the means of the scores at the threshold, while they are of corrected labels.
      means: () => (isOn() ? (scores().means?.map(threeDigits) ?? ["–", "–", "–", "–"]) : null),
      // For tests.
      events,
      scores,
      edits,
      acts,
    };
  }

  return { of };
})();
