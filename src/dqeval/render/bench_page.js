// Tables that sort when the head of a column is pressed.
"use strict";
(() => {
  const NUMBER = /^[-−]?[\d,]*\.?\d+(\s|$)/;
  const LOW_FIRST = /rank|seconds|agreement/;

  const shown = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  const number = (text) => (NUMBER.test(text) ? Number.parseFloat(text.replace("−", "-").replaceAll(",", "")) : NaN);

  function sort(table, column, ascending) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const numeric = isNumeric(table, column);
    const sign = ascending ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [shown(a, column), shown(b, column)];
      if (!numeric) return sign * x.localeCompare(y, undefined, { numeric: true });
      const [p, q] = [number(x), number(y)];
      // What has no value stays last, whichever way the others are sorted.
      if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
      return sign * (p - q);
    });
    body.append(...rows);
  }

  function isNumeric(table, column) {
    const texts = [...table.tBodies[0].rows].map((row) => shown(row, column)).filter((text) => text && text !== "–");
    return texts.length > 0 && texts.every((text) => NUMBER.test(text));
  }

  function press(table, head, column) {
    const before = head.getAttribute("aria-sort");
    const lowFirst = !isNumeric(table, column) || LOW_FIRST.test(head.textContent);
    const ascending = before ? before === "descending" : lowFirst;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sort(table, column, ascending);
  }

  for (const table of document.querySelectorAll(".sortable table")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => press(table, head, column));
      head.scope = "col";
      head.append(button);
    });
  }
  // Paper cannot be unfolded.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("#datasets ~ details")) folded.open = true;
  });
  document.documentElement.dataset.ready = "true";
})();
