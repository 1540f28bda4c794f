// Elements, numbers, tables that sort, and intervals: what all views of the site are put together from.
"use strict";
const parts = (() => {
  const NONE = "–";
  const known = (value) => value !== null && value !== undefined;

  // Texts are never HTML here, whatever they hold.
  function element(name, attributes = {}, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (known(value)) made.setAttribute(key, value);
    }
    made.append(...content.flat().filter(known));
    return made;
  }

  function drawn(name, attributes, ...content) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  // Numbers --------------------------------------------------------------------------------------------------------

  // Rounded as Python does it, so that the site and the command line show the same.
  const formats = new Map();
  function format(digits) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" };
    if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en", options));
    return formats.get(digits);
  }

  function number(value, digits = 3) {
    if (!known(value)) return NONE;
    return format(digits).format(value).replace(/^-(?=[0.]*$)/, "").replace("-", "−"); // never as −0
  }

  const rank = (value) => (Number.isInteger(value) ? String(value) : number(value, 1));
  const chance = (p) => (p < 0.001 ? "< 0.001" : number(p));

  function seconds(value) {
    if (!known(value) || value >= 100) return number(value, 0);
    return value >= 1 ? number(value, 1) : number(value, value >= 0.001 ? 3 : 5);
  }

  // Better is more of the colour, so that a table reads as a picture.
  function tint(share) {
    const strength = 0.42 * Math.min(Math.max(share, 0), 1);
    return known(share) ? `background: rgba(74, 122, 216, ${strength.toFixed(3)})` : null;
  }

  function tau(value) {
    if (!known(value)) return null;
    const colour = value > 0 ? "44, 160, 101" : "214, 69, 65";
    return `background: rgba(${colour}, ${(0.55 * Math.abs(value)).toFixed(2)})`;
  }

  // Tables ---------------------------------------------------------------------------------------------------------
  // A column has a key, a head, a value that it sorts by, and perhaps a cell, which is shown in place of the value.

  const keyOf = (sort) => sort.replace(/^-/, "");

  function sorted(columns, rows, sort) {
    const column = columns.find((each) => each.key === keyOf(sort));
    if (!column?.value) return rows;
    const sign = sort.startsWith("-") ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      // What has no value stays last, whichever way the others are sorted.
      if (!known(x) || !known(y)) return known(y) - known(x);
      return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
    });
  }

  function head(column, sort, press, id) {
    const kind = [column.text && "text", column.head.length > 14 && "long"].filter(Boolean).join(" ");
    const attributes = { scope: "col", class: kind || null };
    if (!column.value) return element("th", attributes, column.head);
    const descending = sort.startsWith("-");
    const chosen = column.key === keyOf(sort);
    const first = column.text || column.low ? column.key : `-${column.key}`;
    const other = descending ? column.key : `-${column.key}`;
    const button = element("button", { type: "button", id: `${id}-${column.key}` }, column.head);
    button.addEventListener("click", () => press(chosen ? other : first));
    const state = descending ? "descending" : "ascending";
    return element("th", { ...attributes, "aria-sort": chosen ? state : null }, button);
  }

  function cell(column, row) {
    const plain = () => (column.text ? column.value(row) : number(column.value(row), column.digits));
    const attributes = {
      class: [column.text ? "text" : "number", column.kind].filter(Boolean).join(" "),
      style: column.style?.(row),
      title: column.title?.(row),
    };
    const content = column.cell ? column.cell(row) : plain();
    return column.rowHead ? element("th", { ...attributes, scope: "row" }, content) : element("td", attributes, content);
  }

  // A table that sorts itself, or, with `press`, tells how it is to be sorted. Of many rows it shows the first, and a
  // button for the others. The rows below are not sorted with them.
  function table({ id, label, columns, rows, below = [], sort = "", press = null, most = Infinity, kind = "" }) {
    const holder = element("div", { class: `scroll ${kind}`, tabindex: 0, role: "group", "aria-label": label });
    const line = (row) => element("tr", { class: row.kind }, columns.map((column) => cell(column, row)));
    const state = { sort, most };

    function draw() {
      const shown = sorted(columns, rows, state.sort).slice(0, state.most);
      holder.replaceChildren(element("table", {},
        element("caption", { class: "visually-hidden" }, label),
        element("thead", {}, element("tr", {}, columns.map((column) => head(column, state.sort, press ?? again, id)))),
        element("tbody", {}, shown.map(line)),
        below.length ? element("tbody", { class: "below" }, below.map(line)) : null));
      if (shown.length < rows.length) holder.append(more());
    }

    function again(next) {
      state.sort = next;
      draw();
      document.getElementById(`${id}-${keyOf(next)}`).focus();
    }

    function more() {
      const button = element("button", { type: "button", class: "more" }, `Show all ${number(rows.length, 0)}`);
      button.addEventListener("click", () => {
        state.most = Infinity;
        draw();
        holder.focus();
      });
      return button;
    }

    draw();
    return holder;
  }

  // An interval on the scale of all; where it is not known, the mean alone.
  function interval(low, middle, high, [least, most], kind) {
    const at = (x) => 2 + (96 * (x - least)) / (most - least || 1);
    const style = () => `left: ${at(low).toFixed(1)}%; width: ${(at(high) - at(low)).toFixed(1)}%`;
    return element("span", { class: `range ${kind}`, "aria-hidden": "true" },
      known(low) ? element("i", { style: style() }) : null,
      element("b", { style: `left: ${at(middle).toFixed(1)}%` }));
  }

  return { NONE, element, drawn, known, number, rank, chance, seconds, tint, tau, table, interval };
})();
