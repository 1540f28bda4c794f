// What is shown at the moment: of all the numbers of the page, those of the chosen detector and threshold.
const pageNumbers = (() => {
  "use strict";
  const PARTS = 4; // DQE, capture, near miss, false alarm
  const thousandths = (number) => (number / 1000).toFixed(3);

  function of(page) {
    const steps = page.thresholds.length;
    const detector = () => page.detectors[pageState.get().detector];
    const step = () => pageState.get().threshold ?? detector().start;

    // The scores of an event, and their means, in thousandths.
    const ofEvent = (event, part, at = step()) => detector().perEvent[(event * PARTS + part) * steps + at - 1];
    const mean = (part, at = step()) => detector().means[part * steps + at - 1];

    return { steps, detector, step, ofEvent, mean };
  }

  return { of, thousandths, PARTS };
})();
