// Where one is lives in the address: a link, a reload and the way back show the same.
"use strict";
const loaded = new Map(); // by file: what hands its content over
function dqevalSite(file, content) {
  loaded.get(file)?.take(content);
}
(() => {
  const { element, number } = parts;
  const content = dqevalContent;
  const NAMES = { leaderboard: "Leaderboard", series: "Series", failures: "Failures", numbers: "Numbers" };
  const firstMetric = content.all.series.metrics?.[0] ?? content.metrics[0]?.name ?? content.parts[0].name;
  const DEFAULTS = { view: "leaderboard", name: "", metric: firstMetric, data: "", by: "series", sort: "", q: "", part: content.parts[0].name };
  const $ = (id) => document.getElementById(id);
  let at = { ...DEFAULTS };
  let turn = 0;

  // A page that is opened from a folder may not fetch; it may load scripts.
  function load(file) {
    if (!loaded.has(file)) {
      const entry = {};
      entry.promise = new Promise((take, fail) => {
        entry.take = take;
        const script = element("script", { src: `data/${file.split("/").map(encodeURIComponent).join("/")}` });
        script.addEventListener("error", () => {
          loaded.delete(file);
          fail(new Error(`The file data/${file} is missing: keep the folder of this site together.`));
        });
        document.head.append(script);
      });
      loaded.set(file, entry);
    }
    return loaded.get(file).promise;
  }

  function address(where) {
    const kept = Object.entries(where).filter(([key, value]) => value !== DEFAULTS[key]);
    return `#${new URLSearchParams(kept)}`;
  }
  const link = (changes) => address({ ...at, ...changes });
  const move = (changes) => { location.hash = link(changes); };
  const views = makeViews(content, load, link, move);

  // What an address asks for and this site does not have is left out, and said.
  function parsed() {
    const asked = Object.fromEntries([...new URLSearchParams(location.hash.slice(1))].filter(([key]) => key in DEFAULTS));
    const where = { ...DEFAULTS, ...asked };
    const missing = [];
    const drop = (key, what) => { missing.push(`${what} “${where[key]}”`); where[key] = DEFAULTS[key]; };
    if (!(where.view in views) || ["labels", "byName"].includes(where.view)) drop("view", "view");
    if (!["series", "event"].includes(where.by)) drop("by", "counting by");
    if (where.data && !content.datasets.some(({ name }) => name === where.data)) drop("data", "dataset");
    if (!views.labels.has(where.metric)) drop("metric", "metric");
    if (where.by === "event" && !content.parts.some(({ name }) => name === where.metric)) where.metric = content.parts[0].name;
    if (where.by === "series" && content.metrics.length && !content.metrics.some(({ name }) => name === where.metric)) where.metric = firstMetric;
    if (where.view === "detector" && !views.byName.detector(where.name)) { drop("name", "detector"); where.view = "leaderboard"; }
    if (where.view === "series" && where.name && !views.byName.series(where.name)) drop("name", "series");
    return { where, missing };
  }

  function option(value, text, chosen) {
    return element("option", { value, selected: value === chosen ? "" : null }, text);
  }

  function showControls() {
    const offered = at.by === "event" && at.view === "leaderboard" ? content.parts : content.metrics;
    $("metric").replaceChildren(...offered.map(({ name, label }) => option(name, label, at.metric)));
    $("data").replaceChildren(option("", `all ${number(content.series.length, 0)}`, at.data), ...content.datasets.map(({ name }) => option(name, name, at.data)));
    $("by").value = at.by;
    if ($("q") !== document.activeElement) $("q").value = at.q;
    const one = at.view === "series" && at.name;
    $("metric").parentElement.hidden = one || ["failures", "numbers"].includes(at.view);
    $("data").parentElement.hidden = one || !content.datasets.length || ["failures", "numbers"].includes(at.view);
    $("by").parentElement.hidden = at.view !== "leaderboard" || "trouble" in content.all.event;
    $("q").parentElement.hidden = one || at.view === "numbers";
    $("controls").hidden = [...$("controls").children].every((each) => each.hidden);
    const anything = content.failures.failed + content.failures.undefined;
    $("views").replaceChildren(...Object.entries(NAMES).filter(([view]) => view !== "failures" || anything).map(([view, name]) =>
      element("a", { href: link({ view, name: "", sort: "", q: "" }), "aria-current": at.view === view ? "page" : null }, name)));
  }

  async function show(moved) {
    const mine = ++turn;
    const { where, missing } = parsed();
    const elsewhere = where.view !== at.view || where.name !== at.name;
    at = where;
    showControls();
    let shown;
    try {
      shown = await views[at.view](at);
    } catch (error) {
      shown = [element("p", { role: "alert" }, error.message)];
    }
    if (mine !== turn) return; // one has gone on meanwhile
    if (missing.length) shown.unshift(element("p", { class: "notice", role: "alert" }, `This site does not have the ${missing.join(", the ")} of the link.`));
    const focused = document.activeElement?.id;
    $("main").replaceChildren(...shown.filter(Boolean));
    document.title = `${[at.name || (at.view === "leaderboard" ? null : NAMES[at.view]), content.title].filter(Boolean).join(" · ")} · dqeval`;
    $("status").textContent = `${at.name || NAMES[at.view]}, ${views.labels.get(at.metric)}${at.data ? `, ${at.data}` : ""}`;
    if (moved && elsewhere) { scrollTo(0, 0); $("main").focus({ preventScroll: true }); }
    else if (focused && document.activeElement?.id !== focused) $(focused)?.focus({ preventScroll: true });
    document.documentElement.dataset.ready = "true";
  }

  const count = (n, one, many) => `${number(n, 0)} ${n === 1 ? one : many}`;
  const ranked = content.detectors.filter((each) => !each.bound).length;
  $("size").textContent = [count(content.series.length, "series", "series"), content.datasets.length ? count(content.datasets.length, "dataset", "datasets") : null,
    count(ranked, "detector", "detectors"), count(content.metrics.length, "metric", "metrics")].filter(Boolean).join(" · ");
  for (const key of ["metric", "data", "by"]) $(key).addEventListener("change", () => move({ [key]: $(key).value, sort: "" }));
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("q").addEventListener("input", () => {
    history.replaceState(null, "", link({ q: $("q").value }));
    show(false);
  });
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  addEventListener("hashchange", () => { delete document.documentElement.dataset.ready; show(true); });
  // Paper cannot be unfolded.
  addEventListener("beforeprint", () => { for (const folded of document.querySelectorAll("details")) folded.open = true; });
  show(false);
})();
