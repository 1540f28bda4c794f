// What the reader has chosen, in one place. Whoever changes it calls update; whoever shows it subscribes. Nothing else
// is told what to draw, so a click, a key, a link and the back button all do the same.
const pageState = (() => {
  "use strict";
  const listeners = new Set();
  let state = Object.freeze({
    detector: 0, // by position
    threshold: null, // from 1, the lowest, to 100; null for the suggested one, or that of the budget
    budget: null, // how many false alarms at most choose the threshold of every detector; null if they do not
    event: null, // by position; null for none
    zoom: null, // the first and the last cell in view; null for the chosen event, or all
    overlay: [], // detectors that are drawn behind the chosen one
    filters: { outcomes: [], least: 0, trouble: null }, // events: with any of these outcomes, and what they lose
    correcting: false, // whether labels are being corrected
  });
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  return {
    get: () => state,

    // Changes some of it. `passing` says that more of the same kind follows, as while a slider is dragged: the browser's
    // history keeps only the last of these.
    update(changes, { passing = false } = {}) {
      const changed = new Set(Object.keys(changes).filter((key) => !same(state[key], changes[key])));
      if (changed.size === 0) return;
      state = Object.freeze({ ...state, ...changes });
      for (const listener of listeners) listener(state, changed, { passing });
    },

    // Calls a function with the new state, the names of what has changed, and whether it is passing.
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
})();
