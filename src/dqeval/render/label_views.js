// The corrected events in words: the form of the one that is chosen, and the table of all.
const labelViews = (() => {
  "use strict";
  const MOST_ROWS = 200;
  const find = (id) => document.getElementById(id);
  const format = new Intl.NumberFormat("en");
  const inDigits = (number) => format.format(number);
  const counted = (count, what) => `${inDigits(count)} ${what}${count === 1 ? "" : "s"}`;
  const points = ({ start, stop }) => `[${start}, ${stop})`;

  function write(cell, text) {
    if (cell.textContent !== text) cell.textContent = text;
  }

  // `times` returns when points are (label_files.js); `lookAt` goes to an event.
  function of({ axis, series, original, plots, times, lookAt }) {
    const rows = new Map(); // by the id of their event
    const lasting = ({ start, stop }) => axis.lasting(stop - start);
    const when = ({ start, stop }) => times().words(start, stop);
    const titleOf = (event) => event.name || when(event);
    const numberOf = (i, event) => `${i + 1}${event.name ? `, ${event.name}` : ""}`;

    function wordsOf(event) {
      const { isKnown } = times();
      const words = [titleOf(event)];
      if (event.name && isKnown) words.push(when(event));
      if (event.name || isKnown) words.push(`${lasting(event)}, ${axis.unit}s ${points(event)}`);
      return words;
    }

    function statusOf(event) {
      const before = original[event.id];
      if (!before) return "added";
      return points(before) === points(event) ? "" : `moved from ${points(before)}`;
    }

    // How far each border of an event may go.
    function limitsOf(events, i) {
      const [low, high] = labelEdits.limitsOf(events, i, series);
      return { start: [low, events[i].stop - 1], stop: [events[i].start + 1, high] };
    }

    // What screen readers say of a border.
    function borderWords(events, event, border) {
      const i = events.indexOf(event);
      const at = event[border];
      const time = times()[border === "start" ? "start" : "end"](at);
      const [least, most] = limitsOf(events, i)[border];
      return {
        "aria-label": `${border === "start" ? "Start" : "End"} of event ${numberOf(i, event)}`,
        "aria-valuemin": least,
        "aria-valuemax": most,
        "aria-valuenow": at,
        "aria-valuetext": times().isKnown ? `${time}, ${axis.unit} ${at}` : `${axis.unit} ${at}`,
      };
    }

    // The form of the event at a place; none where that is below 0.
    function showForm(events, i) {
      find("label-form").hidden = i < 0;
      if (i < 0) return;
      const event = events[i];
      write(find("label-title"), `Event ${i + 1} of ${events.length}${event.name ? `, ${event.name}` : ""}`);
      for (const [border, [least, most]] of Object.entries(limitsOf(events, i))) {
        const field = find(`label-${border}`);
        [field.min, field.max] = [least, most];
        if (field.value !== String(event[border])) field.value = event[border];
      }
      const place = times().isKnown ? when(event) : `${axis.unit}s ${event.start} to ${event.stop - 1}`;
      write(find("label-place"), `${place}, ${lasting(event)}`);
      if (find("label-note").value !== event.note) find("label-note").value = event.note;
    }

    // All events; where they are many, those in view.
    function rowsToShow(events) {
      const all = events.map((event, i) => ({ event, i }));
      if (all.length <= MOST_ROWS) return all;
      const [low, high] = plots.view().map(axis.positionAt);
      return all.filter(({ event }) => event.stop > low && event.start < high).slice(0, MOST_ROWS);
    }

    function makeRow() {
      const line = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      const button = document.createElement("button");
      button.type = "button";
      const more = document.createElement("small");
      head.append(button, more);
      line.append(head);
      const cells = Array.from({ length: 4 }, () => line.insertCell());
      return { line, button, more, cells, words: line.insertCell() };
    }

    function showRow(event, scores, isChosen) {
      const row = rows.get(event.id) ?? makeRow();
      rows.set(event.id, row);
      row.button.onclick = () => lookAt(event);
      const [title, ...others] = wordsOf(event);
      write(row.button, title);
      write(row.more, others.join(" · "));
      row.cells.forEach((cell, part) => write(cell, scores[part].toFixed(3)));
      write(row.words, [statusOf(event), event.note].filter(Boolean).join(": "));
      if (isChosen) row.line.setAttribute("aria-current", "true");
      else row.line.removeAttribute("aria-current");
      return row.line;
    }

    function showTable(events, scores, chosen) {
      const shown = rowsToShow(events);
      const lines = shown.map(({ event, i }) => showRow(event, scores[i], event.id === chosen));
      const body = document.querySelector("#label-events tbody");
      const isSame = lines.length === body.rows.length && lines.every((line, i) => line === body.rows[i]);
      if (!isSame) body.replaceChildren(...lines);
      const all = counted(events.length, "event");
      const some = `Of ${all}, ${inDigits(shown.length)} in view ${shown.length === 1 ? "is" : "are"} listed.`;
      write(find("label-count"), shown.length < events.length ? `${some} Move or zoom out to see others.` : all);
    }

    return { titleOf, borderWords, showForm, showTable };
  }

  return { of, counted, inDigits };
})();
