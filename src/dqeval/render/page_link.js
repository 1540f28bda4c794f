// The state of the page in the address: what is chosen, after the #, so that a reload, a bookmark and a link in a chat
// bring it back. What is as it is by default is not written.
const pageLink = (() => {
  "use strict";
  const PAUSE = 250; // milliseconds; browsers refuse to note every step of a drag
  const SAID = 4000;
  let pause = null; // until what is passing is written
  let flush = () => {};

  const whole = (text, least, most) => {
    const number = /^\d+$/.test(text ?? "") ? Number(text) : NaN;
    return number >= least && number <= most ? number : null;
  };

  const TROUBLES = ["missed", "near-misses", "false-alarms"]; // which part of DQE costs most
  const OUTCOMES = [...document.querySelectorAll("[name=outcome]")].map((input) => input.dataset.key);

  // What a state is called in an address.
  function written(state, page) {
    const fields = new URLSearchParams();
    if (state.detector !== 0) fields.set("detector", page.detectors[state.detector].name);
    if (state.threshold !== null) fields.set("threshold", page.thresholds[state.threshold - 1].toFixed(2));
    if (state.budget !== null) fields.set("budget", Number((state.budget * page.budgets.one).toPrecision(6)));
    if (state.event !== null) fields.set("event", state.event + 1);
    if (state.zoom !== null) fields.set("zoom", state.zoom.join("-"));
    for (const detector of state.overlay) fields.append("overlay", page.detectors[detector].name);
    const { outcomes, least, trouble } = state.filters;
    for (const outcome of outcomes) fields.append("outcome", OUTCOMES[outcome]);
    if (least > 0) fields.set("loses", (least / 100).toFixed(2));
    if (trouble !== null) fields.set("to", TROUBLES[trouble]);
    if (state.correcting) fields.set("correct", "labels");
    return fields.toString();
  }

  // The state that an address asks for. What is unknown or damaged in it counts as not said.
  function read(text, page) {
    const fields = new URLSearchParams(text);
    const steps = page.thresholds.length;
    const positionOf = (name) => page.detectors.findIndex((detector) => detector.name === name);
    const step = Math.round(steps * Number.parseFloat(fields.get("threshold")));
    const event = whole(fields.get("event"), 1, page.events.length);
    const threshold = step >= 1 && step <= steps ? step : null;
    const budget = Math.round(Number.parseFloat(fields.get("budget")) / page.budgets.one);
    return {
      detector: Math.max(0, positionOf(fields.get("detector"))),
      threshold,
      budget: budget >= 0 && budget < Infinity && threshold === null ? budget : null,
      event: event === null ? null : event - 1,
      zoom: zoomIn(fields.get("zoom"), page),
      overlay: known(fields.getAll("overlay").map(positionOf)),
      filters: filtersIn(fields),
      correcting: fields.get("correct") === "labels",
    };
  }

  const known = (positions) => [...new Set(positions)].filter((each) => each >= 0).sort((a, b) => a - b);

  function filtersIn(fields) {
    const least = 5 * Math.round(20 * Number.parseFloat(fields.get("loses")));
    const trouble = TROUBLES.indexOf(fields.get("to"));
    return {
      outcomes: known(fields.getAll("outcome").map((key) => OUTCOMES.indexOf(key))),
      least: least > 0 && least <= 100 ? least : 0,
      trouble: trouble < 0 ? null : trouble,
    };
  }

  function zoomIn(text, page) {
    const ends = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
    if (!ends) return null;
    const [first, last] = [Number(ends[1]), Number(ends[2])];
    return last - first >= 1 && last <= page.cells ? [first, last] : null;
  }

  // Where a page has no address of its own to write to, as in some frames, it works without.
  function write(text, push) {
    const address = text ? `#${text}` : location.pathname + location.search;
    try {
      history[push ? "pushState" : "replaceState"](null, "", address);
    } catch {
      // The link is not kept; everything else is.
    }
  }

  // Reads the address now and whenever it changes, and writes every change of the state to it.
  function follow(page) {
    let reading = false;
    const here = () => location.hash.slice(1);
    const now = () => written(pageState.get(), page);

    function readHere() {
      clearTimeout(pause);
      // What has no field is the name of a place in the page: the browser goes there, and nothing else changes.
      if (here() && !here().includes("=")) return write(now(), false);
      reading = true;
      pageState.update(read(here(), page));
      reading = false;
      if (here() !== now()) write(now(), false);
    }

    pageState.subscribe((state, changed, { passing }) => {
      if (reading) return;
      clearTimeout(pause);
      if (passing) pause = setTimeout(() => write(now(), false), PAUSE);
      else if (here() !== now()) write(now(), true);
    });
    flush = () => {
      clearTimeout(pause);
      if (here() !== now()) write(now(), false);
    };
    addEventListener("pagehide", flush);
    addEventListener("hashchange", readHere);
    readHere();
  }

  // Browsers copy for pages from disk, too, but some only what is marked.
  async function copy() {
    try {
      await navigator.clipboard.writeText(location.href);
      return true;
    } catch {
      const field = document.createElement("textarea");
      field.value = location.href;
      field.setAttribute("readonly", "");
      document.body.append(field);
      field.select();
      const copied = document.execCommand("copy");
      field.remove();
      return copied;
    }
  }

  // A button that copies the address and says so; where that cannot be done, it says where the address is.
  function offerCopy(button, said) {
    let pause = null;
    button.addEventListener("click", async () => {
      flush();
      said.textContent = (await copy()) ? "Link copied" : "Copy it from the address bar";
      button.focus();
      clearTimeout(pause);
      pause = setTimeout(() => (said.textContent = ""), SAID);
    });
  }

  return { follow, offerCopy, written, read };
})();
