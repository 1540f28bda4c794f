// Elements, numbers, tables that sort, and intervals: what all views of the site are put together from.
"use strict";
const parts = (() => {
  const NONE = "–";

  // Texts are never HTML here, whatever they hold.
  function element(name, attributes = {}, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== false) made.setAttribute(key, value);
    made.append(...content.flat().filter((each) => each !== null && each !== undefined));
    return made;
  }

  function drawn(name, attributes, ...content) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  const known = (value) => value !== null && value !== undefined;

  // Rounded as Python does it, so that the site and the command line show the same; nothing is shown as −0.
  const formats = new Map();
  function format(digits) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" };
    if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en", options));
    return formats.get(digits);
  }

  const number = (value, digits = 3) => (known(value) ? format(digits).format(value).replace(/^-(?=[0.]*$)/, "").replace("-", "−") : NONE);

  const rank = (value) => (Number.isInteger(value) ? String(value) : number(value, 1));
  const chance = (p) => (p < 0.001 ? "< 0.001" : number(p));

  function seconds(value) {
    if (!known(value)) return NONE;
    return value >= 100 ? number(value, 0) : value >= 1 ? number(value, 1) : number(value, value >= 0.001 ? 3 : 5);
  }

  // Better is more of the colour, so that a column reads as a picture.
  const tint = (share) => (known(share) ? `background: rgba(74, 122, 216, ${(0.42 * share).toFixed(3)})` : null);

  function tau(value) {
    if (!known(value)) return null;
    const colour = value > 0 ? "44, 160, 101" : "214, 69, 65";
    return `background: rgba(${colour}, ${(0.55 * Math.abs(value)).toFixed(2)})`;
  }

  // Columns: key, head, value (what it sorts by), cell (a node or a text), and perhaps text, low, style, title, kind.
  function sorted(columns, rows, sort) {
    const column = columns.find((each) => each.key === sort.replace(/^-/, ""));
    if (!column) return rows;
    const sign = sort.startsWith("-") ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      // What has no value stays last, whichever way the others are sorted.
      if (!known(x) || !known(y)) return known(y) - known(x);
      return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
    });
  }

  function head(column, sort, press, id) {
    const key = sort.replace(/^-/, "");
    const state = column.key === key ? (sort.startsWith("-") ? "descending" : "ascending") : null;
    const next = state ? (state === "ascending" ? `-${key}` : key) : `${column.text || column.low ? "" : "-"}${column.key}`;
    const button = element("button", { type: "button", id: `${id}-${column.key}` }, column.head);
    button.addEventListener("click", () => press(next));
    const kind = [column.text && "text", column.head.length > 14 && "long"].filter(Boolean).join(" ");
    return element("th", { scope: "col", class: kind || null, "aria-sort": state }, column.value ? button : column.head);
  }

  function cell(column, row) {
    const content = column.cell ? column.cell(row) : column.text ? column.value(row) : number(column.value(row), column.digits ?? 3);
    const kind = [column.text ? "text" : "number", column.kind].filter(Boolean).join(" ");
    const attributes = { class: kind, style: column.style?.(row) ?? null, title: column.title?.(row) ?? null };
    return element(column.rowHead ? "th" : "td", column.rowHead ? { ...attributes, scope: "row" } : attributes, content);
  }

  // A table that sorts itself, or tells how it is to be sorted; of many rows the first, and a button for the others.
  function table({ id, label, columns, rows, sort = "", press = null, most = Infinity, kind = "", below = [] }) {
    const holder = element("div", { class: `scroll ${kind}`, tabindex: 0, role: "group", "aria-label": label });
    let all = rows.length <= most;
    let order = sort;
    const again = press ?? ((next) => { order = next; draw(); document.getElementById(`${id}-${next.replace(/^-/, "")}`)?.focus(); });
    function draw() {
      const shown = sorted(columns, rows, order).slice(0, all ? undefined : most);
      const line = (row) => element("tr", { class: row.kind ?? null }, columns.map((column) => cell(column, row)));
      const made = element("table", {},
        element("caption", { class: "visually-hidden" }, label),
        element("thead", {}, element("tr", {}, columns.map((column) => head(column, order, again, id)))),
        element("tbody", {}, shown.map(line)),
        below.length ? element("tbody", { class: "below" }, below.map(line)) : null);
      holder.replaceChildren(made);
      if (!all) {
        const more = element("button", { type: "button", class: "more" }, `Show all ${number(rows.length, 0)}`);
        more.addEventListener("click", () => { all = true; draw(); holder.focus(); });
        holder.append(more);
      }
    }
    draw();
    return holder;
  }

  // An interval on the scale of all; where it is not known, a dot alone.
  function interval(low, middle, high, [least, most], kind) {
    const at = (x) => (2 + (96 * (x - least)) / (most - least || 1)).toFixed(1);
    const line = known(low) ? element("i", { style: `left: ${at(low)}%; width: ${(at(high) - at(low)).toFixed(1)}%` }) : null;
    return element("span", { class: `range ${kind}`, "aria-hidden": "true" }, line, element("b", { style: `left: ${at(middle)}%` }));
  }

  return { NONE, element, drawn, known, number, rank, chance, seconds, tint, tau, table, interval };
})();
