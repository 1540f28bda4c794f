// The numbers of a page as Python has packed them (render/packing.py), unpacked.
const pageData = (() => {
  "use strict";

  // Deflated, the first bytes of all numbers before the second ones.
  async function unpacked(text, Type) {
    const characters = atob(text);
    const deflated = new Uint8Array(characters.length);
    for (let i = 0; i < characters.length; i++) deflated[i] = characters.charCodeAt(i);
    const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const size = Type.BYTES_PER_ELEMENT;
    if (size === 1) return new Type(planes.buffer);
    const length = planes.length / size;
    const bytes = new Uint8Array(planes.length);
    for (let plane = 0; plane < size; plane++) {
      for (let i = 0; i < length; i++) bytes[size * i + plane] = planes[length * plane + i];
    }
    return new Type(bytes.buffer);
  }

  // Of a step, the middle is drawn.
  async function scoresOf({ packed, steps }) {
    if (steps === null) return unpacked(packed, Float32Array);
    const found = await unpacked(packed, Uint16Array);
    const scores = new Float32Array(found.length);
    for (let t = 0; t < found.length; t++) scores[t] = (found[t] - 2.5) / steps;
    return scores;
  }

  // How many thresholds each score reaches. They are even, but for rounding.
  function levelsOf(scores, thresholds) {
    const steps = thresholds.length;
    const levels = new Uint8Array(scores.length);
    for (let t = 0; t < scores.length; t++) {
      let level = Math.min(steps, Math.floor(steps * scores[t]));
      if (level < steps && scores[t] >= thresholds[level]) level++;
      else if (level > 0 && scores[t] < thresholds[level - 1]) level--;
      levels[t] = level;
    }
    return levels;
  }

  // The data of the page, with arrays in place of packed texts.
  async function read() {
    const page = JSON.parse(document.getElementById("data").textContent);
    page.values = page.values && (await unpacked(page.values, Float32Array));
    page.scale.breaks = await unpacked(page.scale.breaks, Float64Array);
    page.scale.gaps = await unpacked(page.scale.gaps, Float64Array);
    for (const detector of page.detectors) {
      detector.scores = await scoresOf(detector.scores);
      detector.levels = levelsOf(detector.scores, page.thresholds);
      detector.means = await unpacked(detector.means, Uint16Array);
      detector.perEvent = await unpacked(detector.perEvent, Uint16Array);
      detector.outcomes = await unpacked(detector.outcomes, Uint8Array);
      detector.alarms.delays = await unpacked(detector.alarms.delays, Int32Array);
    }
    return page;
  }

  // When points are: of samples that are not even, the steps between them were packed.
  async function clockOf({ clock }) {
    if (!clock.steps) return clock;
    const steps = await unpacked(clock.steps, BigInt64Array);
    const unit = BigInt(clock.unit);
    const ticks = new BigInt64Array(steps.length + 1).fill(BigInt(clock.first));
    for (let t = 0; t < steps.length; t++) ticks[t + 1] = ticks[t] + unit * steps[t];
    return { ...clock, ticks };
  }

  return { read, levelsOf, clockOf };
})();
