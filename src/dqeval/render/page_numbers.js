// What is shown at the moment: of all the numbers of the page, those of the chosen detector and threshold.
const pageNumbers = (() => {
  "use strict";
  const PARTS = 4; // DQE, capture, near miss, false alarm
  const NEVER = -(2 ** 31); // as in render/alarm_steps.py
  const thousandths = (number) => (number / 1000).toFixed(3);

  function of(page) {
    const steps = page.thresholds.length;
    const detector = () => page.detectors[pageState.get().detector];
    const step = () => stepOf(detector());

    // The threshold of a detector: as chosen, or the lowest that keeps the budget of false alarms, or the suggested one.
    function stepOf(of) {
      const { threshold, budget } = pageState.get();
      if (threshold !== null) return threshold;
      return budget === null ? of.start : stepWithin(of, budget) ?? steps;
    }

    function stepWithin(of, budget) {
      const step = 1 + of.alarms.needed.findIndex((needed) => needed <= budget);
      return step > 0 ? step : null;
    }

    // The scores of an event, and their means, in thousandths.
    const ofEvent = (event, part, at = step()) => detector().perEvent[(event * PARTS + part) * steps + at - 1];
    const mean = (part, at = step()) => detector().means[part * steps + at - 1];

    // What happens at an event, as a position in the list of outcomes; and after how long there is an alarm, or null.
    const outcome = (event, at = step()) => detector().outcomes[event * steps + at - 1];
    const delay = (event, at = step()) => {
      const found = detector().alarms.delays[event * steps + at - 1];
      return found === NEVER ? null : found;
    };

    // Which events the filters let through; looked for once after each change.
    let shown = null;
    let shownFor = null;

    function isShown(event) {
      if (shownFor !== pageState.get()) {
        shownFor = pageState.get();
        shown = page.events.map((_, i) => passes(i, shownFor.filters));
      }
      return shown[event];
    }

    function passes(event, { outcomes, least, trouble }) {
      const { dqe, costsMost } = detector();
      if (outcomes.length && !outcomes.includes(outcome(event))) return false;
      return 1000 - dqe[event] >= 10 * least && (trouble === null || costsMost[event] === trouble);
    }

    return { steps, detector, step, stepWithin, ofEvent, mean, outcome, delay, isShown };
  }

  return { of, thousandths, PARTS };
})();
