// Which events are shown: by what happens there at the threshold, and by how much they lose, and to what.
const eventFilters = (() => {
  "use strict";

  function of(page, numbers) {
    const outcomes = [...document.querySelectorAll("[name=outcome]")];
    const counts = [...document.querySelectorAll("[data-count]")];
    const least = document.getElementById("least");
    const trouble = document.getElementById("trouble");
    const everything = document.getElementById("all-events");
    const none = pageState.get().filters;

    function show() {
      const { filters } = pageState.get();
      outcomes.forEach((input, i) => (input.checked = filters.outcomes.includes(i)));
      least.value = filters.least;
      const lost = `${(filters.least / 100).toFixed(2)} of DQE`;
      document.getElementById("least-value").textContent = lost;
      least.setAttribute("aria-valuetext", lost);
      trouble.value = filters.trouble ?? "";
      everything.hidden = filters === none || JSON.stringify(filters) === JSON.stringify(none);
      const found = outcomes.map(() => 0);
      page.events.forEach((_, event) => found[numbers.outcome(event)]++);
      counts.forEach((count, i) => (count.textContent = found[i].toLocaleString("en")));
      const shown = page.events.filter((_, event) => numbers.isShown(event)).length;
      const all = page.events.length;
      const said = `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} event${all === 1 ? "" : "s"} shown`;
      const line = document.getElementById("shown-count");
      if (line.textContent !== said) line.textContent = said;
    }

    function choose(changes, options) {
      pageState.update({ filters: { ...pageState.get().filters, ...changes } }, options);
    }

    for (const input of outcomes) {
      input.addEventListener("change", () => {
        choose({ outcomes: outcomes.flatMap((each, i) => (each.checked ? [i] : [])) });
      });
    }
    least.addEventListener("input", () => choose({ least: Number(least.value) }, { passing: true }));
    trouble.addEventListener("change", () => choose({ trouble: trouble.value === "" ? null : Number(trouble.value) }));
    everything.addEventListener("click", () => {
      pageState.update({ filters: none });
      outcomes[0].focus();
    });
    return { show };
  }

  return { of };
})();
