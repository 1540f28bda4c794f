// What operators ask for: how many events each detector finds, how soon, within a budget of false alarms.
const alarmBudget = (() => {
  "use strict";

  function of(page, axis, numbers) {
    const { per, one, counts, places } = page.budgets;
    const slider = document.getElementById("budget");
    const body = document.querySelector("#operators tbody");
    const hasThresholds = page.detectors.some((detector) => detector.isScores);
    slider.max = counts.length - 1;
    const rows = page.detectors.map(makeRow);

    const rate = (count) => Number((count * one).toPrecision(3)).toLocaleString("en");
    // The budget that is chosen, or that the threshold in view needs.
    const budget = () => pageState.get().budget ?? numbers.detector().alarms.needed[numbers.step() - 1];

    function makeRow(detector, i) {
      const line = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      const swatch = document.querySelectorAll("#summary .swatch")[i].cloneNode();
      head.append(swatch, detector.name);
      line.append(head);
      return { line, cells: Array.from({ length: hasThresholds ? 6 : 4 }, () => line.insertCell()) };
    }

    function show() {
      const most = budget();
      const said = `at most ${rate(most)} per ${per}`;
      slider.value = Math.max(0, ascending.passed(counts, most) - 1);
      document.getElementById("budget-value").textContent = said;
      page.detectors.forEach((detector, i) => showRow(rows[i], detector, i, most));
      const [chosen, step] = [numbers.detector(), numbers.step()];
      const kept = chosen.alarms.needed[step - 1] <= most;
      const found = `${chosen.alarms.detected[step - 1]} of ${page.events.length} events detected`;
      const words = kept
        ? `${chosen.name}: threshold ${page.thresholds[step - 1].toFixed(2)} (score ${chosen.rawThresholds[step - 1]}), ${found}`
        : `${chosen.name} has more false alarms at every threshold; the highest is shown`;
      document.getElementById("budget-words").textContent = `${words}.`;
      slider.setAttribute("aria-valuetext", `${said}, ${found}`);
      seriesPlots.model("budget-line").location = placeOf(most);
    }

    function showRow({ line, cells }, { alarms, rawThresholds, isScores }, i, most) {
      const chosen = i === pageState.get().detector;
      line.classList.toggle("chosen", chosen);
      const step = chosen ? numbers.step() : numbers.stepWithin(page.detectors[i], most);
      const at = step - 1;
      const delay = step === null ? null : alarms.medianDelay[at];
      const shown = step === null
        ? ["none", "–", "–", "–", "–", atBest(i, most)]
        : [
            isScores ? rawThresholds[at] : "0/1 detections",
            `${alarms.detected[at]} of ${page.events.length}`,
            delay === null ? "–" : delay < 0 ? `${axis.lasting(-delay)} early` : axis.lasting(delay),
            rate(alarms.falseAlarms[at]),
            alarms.inAlarm[at],
            atBest(i, most),
          ];
      cells.forEach((cell, j) => (cell.textContent = shown[hasThresholds ? j : j + 1]));
    }

    // What the budget can detect at most: the plot has every threshold there is, not only those of the page.
    function atBest(i, most) {
      const { x, events, threshold } = seriesPlots.model(`alarm-dots-${i}`).data;
      const last = ascending.passed(x, placeOf(most) + 1e-9) - 1;
      return last < 0 ? "none" : `${events[last]}, at ${threshold[last]}`;
    }

    // Between two budgets that were drawn, it is drawn at the lower one: nothing changes before the next.
    function placeOf(count) {
      return places[Math.max(0, ascending.passed(counts, count) - 1)];
    }

    function choose(position) {
      pageState.update({ budget: counts[position], threshold: null }, { passing: true });
    }

    slider.addEventListener("input", () => choose(Number(slider.value)));
    return { show, choosePlace: (place) => choose(Math.max(0, ascending.passed(places, place) - 1)) };
  }

  return { of };
})();
