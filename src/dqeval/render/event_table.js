// The table of events: a row each, with its scores at the threshold and what happens there in words.
const eventTable = (() => {
  "use strict";
  const { PARTS, thousandths } = pageNumbers;
  const MOST_ROWS_AT_ONCE = 200;
  const PAUSE = 250; // milliseconds

  function write(cell, text) {
    if (cell.textContent !== text) cell.textContent = text;
  }

  function of(page, axis, numbers) {
    const { events } = page;
    const { lasting, unit } = axis;
    const body = document.querySelector("#events tbody");
    const outcomes = [...document.querySelectorAll("[name=outcome]")].map((input) => ({
      key: input.dataset.key,
      words: input.dataset.words,
    }));
    const rows = makeRows();
    // To lay out thousands of rows takes longer than a frame: those out of view follow when the reader pauses.
    const waiting = new Set();
    const rowsInView = new Set();
    let pause = null;

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
      return events.map((cuts, event) => {
        const line = body.insertRow();
        const head = document.createElement("th");
        head.scope = "row";
        const button = document.createElement("button");
        button.type = "button";
        const [title, ...others] = wordsOf(event);
        button.textContent = title;
        button.className = page.names.length ? "named" : "";
        button.addEventListener("click", () => pageState.update({ event, zoom: null }));
        head.append(button);
        for (const words of others) {
          const small = document.createElement("small");
          small.textContent = words;
          head.append(document.createElement("br"), small);
        }
        line.append(head);
        const total = line.insertCell();
        const cells = Array.from({ length: PARTS }, () => line.insertCell());
        const [delay, outcome, words] = [line.insertCell(), line.insertCell(), line.insertCell()];
        outcome.className = "text";
        return { event, line, total, cells, delay, outcome, words };
      });
    }

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
      write(row.total, thousandths(numbers.detector().dqe[row.event]));
      row.cells.forEach((cell, part) => write(cell, thousandths(numbers.ofEvent(row.event, part))));
      write(row.delay, delayed(numbers.delay(row.event)));
      showOutcome(row.outcome, numbers.outcome(row.event));
      write(row.words, numbers.detector().sentences[row.event]);
    }

    function showOutcome(cell, outcome) {
      if (cell.dataset.outcome === String(outcome)) return;
      cell.dataset.outcome = outcome;
      const dot = document.createElement("span");
      dot.className = `dot ${outcomes[outcome].key}`;
      cell.replaceChildren(dot, outcomes[outcome].words);
    }

    function delayed(points) {
      if (points === null) return "–";
      if (points === 0) return "at once";
      return points > 0 ? lasting(points) : `${lasting(-points)} early`;
    }

    // Rows of events that the filters leave out are not shown.
    function filterRows() {
      for (const { event, line } of rows) {
        if (line.hidden === numbers.isShown(event)) line.hidden = !line.hidden;
      }
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

    // The chosen event is marked, and said.
    function showChosen() {
      const { event } = pageState.get();
      for (const row of rows) {
        if (row.event === event) row.line.setAttribute("aria-current", "true");
        else row.line.removeAttribute("aria-current");
      }
      document.getElementById("announcement").textContent = event === null ? "" : announced(event);
    }

    function announced(event) {
      const [, , start, stop] = events[event];
      const title = unit === "cell" ? wordsOf(event).slice(0, -1).join(", ") : `points ${start} to ${stop - 1}`;
      return `Event ${event + 1} of ${events.length}, ${title}. ${numbers.detector().sentences[event]}`;
    }

    function scrollTo(event) {
      rows[event].line.scrollIntoView({ block: "nearest" });
    }

    function sortBy(head) {
      const key = head.dataset.sort;
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      for (const other of document.querySelectorAll("[data-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const value = {
        start: (row) => row.event,
        total: (row) => numbers.detector().dqe[row.event],
        delay: (row) => numbers.delay(row.event) ?? Infinity,
        outcome: (row) => numbers.outcome(row.event),
      }[key] ?? ((row) => numbers.ofEvent(row.event, Number(key)));
      const sorted = [...rows].sort((a, b) => (ascending ? 1 : -1) * (value(a) - value(b) || 0));
      body.append(...sorted.map((row) => row.line));
    }

    for (const head of document.querySelectorAll("[data-sort]")) {
      head.querySelector("button").addEventListener("click", () => sortBy(head));
    }
    addEventListener("beforeprint", showWaitingRows);
    watchRows();
    return { showRows, showWaitingRows, filterRows, showChosen, scrollTo };
  }

  return { of };
})();
