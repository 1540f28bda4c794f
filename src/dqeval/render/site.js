// Where one is lives in the address: a link, a reload and the way back show the same.
"use strict";
const loaded = new Map(); // what was asked for, by file
function dqevalSite(file, content) {
  loaded.get(file)?.take(content);
}
(() => {
  const { element, number } = parts;
  const content = dqevalContent;
  const TABS = { leaderboard: "Leaderboard", series: "Series", failures: "Failures", numbers: "Numbers" };
  const PLAIN = ["failures", "numbers"]; // views that are of no metric and no dataset
  const isIn = (all, wanted) => all.some(({ name }) => name === wanted);
  const firstMetric = content.all.series.metrics?.[0] ?? content.metrics[0]?.name ?? content.parts[0].name;
  const DEFAULTS = {
    ...{ view: "leaderboard", name: "", metric: firstMetric, data: "", by: "series", sort: "", q: "" },
    part: content.parts[0].name,
  };
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

  function link(changes) {
    const kept = Object.entries({ ...at, ...changes }).filter(([key, value]) => value !== DEFAULTS[key]);
    return `#${new URLSearchParams(kept)}`;
  }
  const move = (changes) => { location.hash = link(changes); };
  const { kit, views } = makeViews(content, load, link, move);

  // What an address asks for and this site does not have is left out, and said.
  function asked() {
    const given = [...new URLSearchParams(location.hash.slice(1))].filter(([key]) => key in DEFAULTS);
    const where = { ...DEFAULTS, ...Object.fromEntries(given) };
    const missing = [];
    const drop = (key, what) => { missing.push(`${what} “${where[key]}”`); where[key] = DEFAULTS[key]; };
    if (!Object.hasOwn(views, where.view)) drop("view", "view");
    if (!["series", "event"].includes(where.by)) drop("by", "counting by");
    if (where.data && !isIn(content.datasets, where.data)) drop("data", "dataset");
    if (!kit.labels.has(where.metric)) drop("metric", "metric");
    if (where.view === "detector" && !isIn(kit.detectors, where.name)) {
      drop("name", "detector");
      where.view = DEFAULTS.view;
    }
    if (where.view === "series" && where.name && !isIn(kit.series, where.name)) drop("name", "series");
    if (!isIn(offered(where), where.metric)) where.metric = offered(where)[0]?.name ?? firstMetric;
    return { where, missing };
  }

  // By event there is DQE and its parts, by series there is every metric.
  const offered = ({ view, by }) => (view === "leaderboard" && by === "event" ? content.parts : content.metrics);

  const option = (value, text, chosen) => element("option", { value, selected: value === chosen ? "" : null }, text);

  function showControls() {
    const all = option("", `all ${number(content.series.length, 0)}`, at.data);
    $("metric").replaceChildren(...offered(at).map(({ name, label }) => option(name, label, at.metric)));
    $("data").replaceChildren(all, ...content.datasets.map(({ name }) => option(name, name, at.data)));
    $("by").value = at.by;
    if ($("q") !== document.activeElement) $("q").value = at.q;
    const alone = at.view === "series" && at.name !== "";
    const plain = alone || PLAIN.includes(at.view);
    $("metric").parentElement.hidden = plain;
    $("data").parentElement.hidden = plain || !content.datasets.length;
    $("by").parentElement.hidden = at.view !== "leaderboard" || "trouble" in content.all.event;
    $("q").parentElement.hidden = alone || at.view === "numbers";
    $("controls").hidden = [...$("controls").children].every((each) => each.hidden);
  }

  function showTabs() {
    const shown = Object.entries(TABS).filter(([view]) => view !== "failures" || content.failures.kinds);
    $("views").replaceChildren(...shown.map(([view, name]) => element("a",
      { href: link({ view, name: "", sort: "", q: "" }), "aria-current": at.view === view ? "page" : null }, name)));
  }

  async function viewOf(where, missing) {
    let shown;
    try {
      shown = await views[where.view](where);
    } catch (error) {
      shown = [element("p", { role: "alert" }, error.message)];
    }
    const notice = `This site does not have the ${missing.join(", the ")} of the link.`;
    return [missing.length ? element("p", { class: "notice", role: "alert" }, notice) : null, ...shown].filter(Boolean);
  }

  async function show(followed) {
    const mine = ++turn;
    const { where, missing } = asked();
    const elsewhere = where.view !== at.view || where.name !== at.name;
    at = where;
    showControls();
    showTabs();
    const shown = await viewOf(at, missing);
    if (mine !== turn) return; // one has gone on meanwhile
    const focused = document.activeElement?.id;
    $("main").replaceChildren(...shown);
    const name = at.name || TABS[at.view];
    document.title = `${at.view === "leaderboard" ? "" : `${name} · `}${content.title} · dqeval`;
    $("status").textContent = `${name}, ${kit.labels.get(at.metric)}${at.data ? `, ${at.data}` : ""}`;
    if (followed && elsewhere) {
      scrollTo(0, 0);
      $("main").focus({ preventScroll: true });
    } else if (focused) {
      $(focused)?.focus({ preventScroll: true }); // what was pressed is there again
    }
    document.documentElement.dataset.ready = "true";
  }

  function showSize() {
    const count = (n, noun) => `${number(n, 0)} ${noun}${n === 1 ? "" : "s"}`;
    const detectors = content.detectors.filter((each) => !each.bound).length;
    $("size").textContent = [`${number(content.series.length, 0)} series`,
      ...(content.datasets.length ? [count(content.datasets.length, "dataset")] : []),
      count(detectors, "detector"), count(content.metrics.length, "metric")].join(" · ");
  }

  for (const key of ["metric", "data", "by"]) {
    $(key).addEventListener("change", () => move({ [key]: $(key).value, sort: "" }));
  }
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("q").addEventListener("input", () => {
    history.replaceState(null, "", link({ q: $("q").value }));
    show(false);
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    $("main").focus();
  });
  addEventListener("hashchange", () => {
    delete document.documentElement.dataset.ready;
    show(true);
  });
  // Paper cannot be unfolded.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
  showSize();
  show(false);
})();
