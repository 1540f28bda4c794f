// A choice of one dataset, above the table of series: its rows, and the address, follow.
(() => {
  "use strict";
  const headOf = (table) => [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  const table = [...document.querySelectorAll(".sortable table")].find(
    (each) => headOf(each)[0] === "series" && headOf(each).includes("dataset"),
  );
  if (!table) return;
  const column = headOf(table).indexOf("dataset");
  const rows = [...table.tBodies[0].rows];
  const datasetOf = (row) => row.cells[column].textContent.trim();
  const datasets = [...new Set(rows.map(datasetOf))].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  if (datasets.length < 2) return;

  const line = document.createElement("p");
  line.className = "choice";
  const label = document.createElement("label");
  const select = document.createElement("select");
  const count = document.createElement("span");
  count.setAttribute("role", "status");
  select.append(new Option("all", ""), ...datasets.map((name) => new Option(name, name)));
  select.id = label.htmlFor = "dataset";
  label.append("Dataset");
  line.append(label, select, count);
  table.closest(".scroll").before(line);

  const chosen = () => new URLSearchParams(location.hash.slice(1)).get("dataset") ?? "";

  function show(dataset) {
    select.value = dataset;
    for (const row of rows) row.hidden = dataset !== "" && datasetOf(row) !== dataset;
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} series shown`;
  }

  select.addEventListener("change", () => {
    const address = select.value ? `#${new URLSearchParams({ dataset: select.value })}` : location.pathname + location.search;
    history.pushState(null, "", address);
    show(select.value);
  });
  addEventListener("hashchange", () => {
    // A section of the page: the browser goes there, and the choice stays.
    if (location.hash.length > 1 && !location.hash.includes("=")) return;
    show(datasets.includes(chosen()) ? chosen() : "");
  });
  show(datasets.includes(chosen()) ? chosen() : "");
})();
