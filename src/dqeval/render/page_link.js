// The state of the page in the address: what is chosen, after the #, so that a reload, a bookmark and a link in a chat
// bring it back. What is as it is by default is not written.
const pageLink = (() => {
  "use strict";
  const PAUSE = 250; // milliseconds; browsers refuse to note every step of a drag

  const whole = (text, least, most) => {
    const number = /^\d+$/.test(text ?? "") ? Number(text) : NaN;
    return number >= least && number <= most ? number : null;
  };

  // What a state is called in an address.
  function written(state, page) {
    const fields = new URLSearchParams();
    if (state.detector !== 0) fields.set("detector", page.detectors[state.detector].name);
    if (state.threshold !== null) fields.set("threshold", page.thresholds[state.threshold - 1].toFixed(2));
    if (state.event !== null) fields.set("event", state.event + 1);
    if (state.zoom !== null) fields.set("zoom", state.zoom.join("-"));
    for (const detector of state.overlay) fields.append("overlay", page.detectors[detector].name);
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
    const overlay = new Set(fields.getAll("overlay").map(positionOf).filter((position) => position >= 0));
    return {
      detector: Math.max(0, positionOf(fields.get("detector"))),
      threshold: step >= 1 && step <= steps ? step : null,
      event: event === null ? null : event - 1,
      zoom: zoomIn(fields.get("zoom"), page),
      overlay: [...overlay].sort((a, b) => a - b),
      correcting: fields.get("correct") === "labels",
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
    let pause = null;
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
    addEventListener("hashchange", readHere);
    readHere();
  }

  return { follow, written, read };
})();
