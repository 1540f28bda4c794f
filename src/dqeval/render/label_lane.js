// The strip of labels above the series: events as blocks, borders that can be dragged or moved with keys, and room in
// which a drag adds an event.
const labelLane = (() => {
  "use strict";
  const MOST_EVENTS = 150; // with borders to drag; more could not be told apart
  const LEAST_DRAG = 4; // pixels: less is a click
  const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };

  // The figure of the series or the scores, whose frame tells where the axis of time begins and ends on the screen.
  function frameOf(range) {
    const search = (views) => {
      for (const view of views) {
        const found = view.model.x_range === range ? view : search(view.child_views ?? []);
        if (found) return found;
      }
      return null;
    };
    return search([...Bokeh.index])?.frame.bbox;
  }

  // `acts` are what the reader may do: choose(id), reveal(id, border), move(id, border, position, isOver),
  // nudge(id, border, by), push(id, border, to), add(point, other, isOver), cancel(), remove(id).
  function of(root, { axis, plots, acts }) {
    const shown = new Map(); // elements by the id of their event
    const range = seriesPlots.model("view");
    let view = [0, 1];

    const pixels = (x) => ((x - view[0]) / (view[1] - view[0])) * root.clientWidth;
    const positionAt = (event) => {
      const { left, width } = root.getBoundingClientRect();
      return axis.positionAt(view[0] + ((event.clientX - left) / width) * (view[1] - view[0]));
    };

    // Calls `moved` while a pointer is dragged, and says when that is over; Escape takes it back.
    function drag(element, down, moved) {
      element.setPointerCapture(down.pointerId);
      let far = false;
      const move = (event) => {
        far ||= Math.abs(event.clientX - down.clientX) >= LEAST_DRAG;
        if (far) moved(event, false);
      };
      const end = (event) => {
        element.removeEventListener("pointermove", move);
        for (const name of ["pointerup", "pointercancel"]) element.removeEventListener(name, end);
        removeEventListener("keydown", escape, true);
        if (far && event.type === "pointerup") moved(event, true);
        else if (far) acts.cancel();
      };
      const escape = (key) => {
        if (key.key !== "Escape") return;
        element.releasePointerCapture(down.pointerId);
        end(key);
      };
      element.addEventListener("pointermove", move);
      for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, end);
      addEventListener("keydown", escape, true);
    }

    function makeBorder(id, border) {
      const handle = document.createElement("div");
      handle.className = `border ${border}`;
      handle.tabIndex = 0;
      handle.setAttribute("role", "slider");
      handle.addEventListener("focus", () => {
        acts.choose(id);
        if (handle.matches(":focus-visible")) acts.reveal(id, border);
      });
      handle.addEventListener("pointerdown", (down) => {
        if (down.button !== 0) return;
        down.stopPropagation();
        acts.choose(id);
        drag(handle, down, (event, isOver) => acts.move(id, border, positionAt(event), isOver));
      });
      handle.addEventListener("keydown", (key) => {
        if (key.ctrlKey || key.metaKey || key.altKey) return;
        const by = (STEPS[key.key] ?? 0) * (key.shiftKey && key.key.startsWith("Arrow") ? 10 : 1);
        const does =
          by !== 0
            ? () => acts.nudge(id, border, by)
            : {
                Home: () => acts.push(id, border, -Infinity),
                End: () => acts.push(id, border, Infinity),
                Delete: () => acts.remove(id),
              }[key.key];
        if (!does) return;
        key.preventDefault();
        does();
      });
      return handle;
    }

    // In the order of time, in which the Tab key goes through them.
    function makeEvent(id, next) {
      const block = document.createElement("div");
      block.className = "block";
      block.addEventListener("pointerdown", (down) => {
        down.stopPropagation();
        acts.choose(id);
      });
      const found = { block, start: makeBorder(id, "start"), stop: makeBorder(id, "stop") };
      for (const element of [block, found.start, found.stop]) root.insertBefore(element, next);
      shown.set(id, found);
      return found;
    }

    // Shows events, of which `words` says how screen readers call the borders, and how far these may go. Returns whether
    // there are so many that borders can only be moved closer up.
    function draw(events, chosen, words) {
      const frame = frameOf(range);
      if (!frame) return false;
      root.style.marginLeft = `${frame.left}px`;
      root.style.width = `${frame.right - frame.left}px`;
      view = plots.view();
      const [low, high] = view.map(axis.positionAt);
      const seen = events.filter((event) => event.id === chosen || (event.stop > low && event.start < high));
      const kept = new Set(seen.map((event) => event.id));
      const crowded = seen.length > MOST_EVENTS;
      root.classList.toggle("crowded", crowded);
      for (const [id, elements] of shown) {
        if (kept.has(id)) continue;
        for (const element of Object.values(elements)) element.remove();
        shown.delete(id);
      }
      let next = null;
      for (const event of seen.reverse()) {
        const { block, start, stop } = shown.get(event.id) ?? makeEvent(event.id, next);
        next = block;
        const [left, right] = [pixels(axis.startX(event.start)), pixels(axis.endX(event.stop))];
        block.style.left = `${left}px`;
        block.style.width = `${Math.max(1, right - left)}px`;
        block.title = event.note;
        block.classList.toggle("chosen", event.id === chosen);
        start.style.left = `${left}px`;
        stop.style.left = `${right}px`;
        for (const [handle, border] of [[start, "start"], [stop, "stop"]]) {
          handle.hidden = crowded && event.id !== chosen;
          for (const [name, text] of Object.entries(words(event, border))) handle.setAttribute(name, text);
        }
      }
      return crowded;
    }

    root.addEventListener("pointerdown", (down) => {
      if (down.button !== 0) return;
      const from = Math.floor(positionAt(down));
      drag(root, down, (event, isOver) => acts.add(from, Math.floor(positionAt(event)), isOver));
    });

    return { draw, focus: (id, border = "start") => shown.get(id)?.[border].focus() };
  }

  return { of };
})();
