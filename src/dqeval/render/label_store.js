// Where corrections are kept: in the browser, under a key of the page's content, so that pages of other series that
// come from the same place, as all files do, have their own.
const labelStore = (() => {
  "use strict";

  // Some browsers and some settings keep nothing for a page: then all of these say so, and none throws.
  function of(key) {
    const name = `dqeval-labels-${key}`;
    const tried = (does) => {
      try {
        return does();
      } catch {
        return undefined;
      }
    };
    return {
      read: () => tried(() => localStorage.getItem(name)) ?? null,
      write: (text) => tried(() => localStorage.setItem(name, text) ?? true) === true,
      remove: () => tried(() => localStorage.removeItem(name) ?? true) === true,
      works() {
        const probe = `${name}-probe`;
        return tried(() => localStorage.setItem(probe, "") ?? localStorage.removeItem(probe) ?? true) === true;
      },
      // Another window with the same page has changed it.
      follow: (changed) => addEventListener("storage", (event) => event.key === name && changed(event.newValue)),
    };
  }

  return { of };
})();
