// The plots over time and against the threshold: Bokeh's empty figures, filled with what is in view. No number is
// computed here, only where to draw.
const seriesPlots = (() => {
  "use strict";
  const { passed } = ascending;
  const PIECES = ["false alarm", "near miss", "capture", "near miss", "false alarm"];
  const MOST_TINTED_EVENTS = 400;
  const MOST_BARS = 4000;
  const AXES = ["values", "scores", "curve", "alarm", "near"].flatMap((name) => [`${name}-x`, `${name}-y`]);

  function model(name) {
    for (const document of Bokeh.documents) {
      const found = document.get_model_by_name(name);
      if (found) return found;
    }
    return null;
  }

  // Draws at the next frame, once, however often it is asked for until then.
  const pending = new Set();

  function soon(draw) {
    if (pending.size === 0) {
      requestAnimationFrame(() => {
        const draws = [...pending];
        pending.clear();
        for (const each of draws) each();
      });
    }
    pending.add(draw);
  }

  async function of(page, axis, numbers) {
    const { colours, thresholds, values } = page;
    const { startX, endX, positionAt, lasting, breaks, gaps, gapEnds } = axis;
    const { steps, ofEvent } = numbers;
    for (const name of ["time", "curve", "alarm", "near"]) {
      await Bokeh.embed.embed_item(page[`${name}Plot`] ?? page[`${name}Plots`], `${name}-plot${name === "time" ? "s" : ""}`);
    }
    const view = model("view");
    const timePlots = document.getElementById("time-plots");
    let plotWidth = timePlots.clientWidth;
    let { events, names } = page;
    let borders = bordersOf(events);

    // Behind a region there may be a stretch without an event, which is in no region.
    function bordersOf(regions) {
      return Float64Array.from([0, ...regions.flat(), page.length]);
    }

    // The event whose region a position is in, and which of its pieces; none where there is no region.
    function pieceAt(border) {
      const piece = (border - 1) % (PIECES.length + 1);
      return border > 0 && piece < PIECES.length ? [Math.floor((border - 1) / (PIECES.length + 1)), PIECES[piece]] : [];
    }

    // What a point is to the event whose region it is in.
    function placeOf(point) {
      const [event, kind] = pieceAt(passed(borders, point) - 1);
      if (kind === undefined) return "in no region of an event";
      const [, , start, stop] = events[event];
      const name = names[event] ? `event ${event + 1}, ${names[event]}` : `event ${event + 1}`;
      if (kind === "capture") return `${lasting(point - start)} after the start of ${name}`;
      const early = point < start;
      const distance = early ? start - point - 1 : point - stop;
      if (distance === 0) return `right ${early ? "before" : "after"} ${name} (${kind})`;
      return `${lasting(distance)} ${early ? "early" : "late"} for ${name} (${kind})`;
    }

    function inView() {
      const first = Math.max(0, Math.floor(positionAt(view.start)) - 1);
      const stop = Math.min(page.length, Math.ceil(positionAt(view.end)) + 1);
      const columns = Math.max(200, plotWidth);
      return { first, stop, columns, pixel: (view.end - view.start) / columns };
    }

    function drawLines() {
      const range = inView();
      const { detector: chosen, overlay } = pageState.get();
      if (values) model("values").data = thinned(values, range);
      page.detectors.forEach((detector, i) => {
        const shown = i === chosen || overlay.includes(i);
        const line = model(`scores-${i}-line`);
        line.visible = shown;
        line.glyph.line_width = i === chosen ? 1.8 : 1;
        if (shown) model(`scores-${i}`).data = thinned(detector.scores, range);
      });
    }

    // The lowest and the highest point of every pixel column, in time order: what a full drawing would show.
    function thinned(series, { first, stop, columns }) {
      const points = [];
      if (stop - first <= 3 * columns) {
        for (let t = first; t < stop; t++) points.push(t);
      } else {
        for (let column = 0; column < columns; column++) {
          const from = first + Math.floor(((stop - first) * column) / columns);
          const to = first + Math.floor(((stop - first) * (column + 1)) / columns);
          let low = from;
          let high = from;
          for (let t = from + 1; t < to; t++) {
            // A missing value, NaN, gives way to any other.
            if (series[t] < series[low] || Number.isNaN(series[low])) low = t;
            if (series[t] > series[high] || Number.isNaN(series[high])) high = t;
          }
          points.push(Math.min(low, high));
          if (low !== high) points.push(Math.max(low, high));
        }
      }
      return line(points, series);
    }

    // A point is drawn in the middle of its cell. The line is broken where there is a gap, and a point between two gaps is
    // as wide as its cell, so that it can be seen.
    function line(points, series) {
      const columns = { x: [], y: [], point: [], at: [], place: [] };
      const add = (x, t, y) => {
        columns.x.push(x);
        columns.y.push(y);
        columns.point.push(t);
        columns.at.push(startX(t));
        columns.place.push(placeOf(t));
      };
      const stretches = points.map((t) => passed(breaks, t));
      points.forEach((t, i) => {
        const begins = i > 0 && stretches[i] !== stretches[i - 1];
        const ends = i < points.length - 1 && stretches[i] !== stretches[i + 1];
        const alone = (begins || (t === 0 && ends)) && (ends || t === page.length - 1);
        if (begins) add(startX(t), t, NaN);
        if (alone) add(startX(t), t, series[t]);
        add(alone ? endX(t + 1) : startX(t + 0.5), t, series[t]);
      });
      return columns;
    }

    // The pieces of each event's region, and what was not observed.
    function drawEvents() {
      const columns = { x0: [], x1: [], colour: [], alpha: [] };
      const { first, stop, pixel } = inView();
      const seen = events.filter((cuts, i) => cuts[5] > first && cuts[0] < stop && (events !== page.events || numbers.isShown(i)));
      for (const cuts of seen) {
        PIECES.forEach((kind, i) => {
          const worth = kind === "capture" || seen.length <= MOST_TINTED_EVENTS;
          if (cuts[i] === cuts[i + 1] || !worth) return;
          columns.x0.push(startX(cuts[i]));
          columns.x1.push(endX(cuts[i + 1]));
          columns.colour.push(colours[kind]);
          columns.alpha.push(kind === "capture" ? 0.34 : 0.13);
        });
      }
      for (const name of ["values-regions", "scores-regions"]) {
        const source = model(name);
        if (source) source.data = columns;
      }
      drawGaps(pixel);
    }

    // Gaps that are less than a pixel apart are drawn as one.
    function drawGaps(pixel) {
      const found = [];
      for (let i = passed(gapEnds, axis.cellAt(view.start)); i < breaks.length; i++) {
        const [left, right] = [endX(breaks[i]), startX(breaks[i])];
        if (left > view.end) break;
        const last = found[found.length - 1];
        if (last && left - last.right < pixel) {
          last.right = right;
          last.cells += gaps[i];
        } else found.push({ left, right, cells: gaps[i] });
      }
      const columns = {
        x0: found.map((gap) => gap.left),
        x1: found.map((gap) => gap.right),
        lasting: found.map((gap) => lasting(gap.cells)),
      };
      for (const name of ["values-gaps", "scores-gaps"]) {
        const source = model(name);
        if (source) source.data = columns;
      }
    }

    function drawDetections() {
      const range = inView();
      let bars = [];
      const { levels } = numbers.detector();
      const step = numbers.step();
      for (let t = range.first; t < range.stop; ) {
        if (levels[t] < step) {
          t++;
          continue;
        }
        const start = t;
        const stop = Math.min(range.stop, breaks[passed(breaks, start)] ?? Infinity);
        while (t < stop && levels[t] >= step) t++;
        bars.push(...cutAtBorders(start, t));
      }
      if (bars.length > MOST_BARS) bars = joined(bars, range.pixel);
      // What is narrower than two pixels would not be seen.
      const width = 2 * range.pixel;
      model("detections").data = {
        left: bars.map((bar) => bar.left),
        right: bars.map((bar) => Math.max(bar.right, bar.left + width)),
        colour: bars.map((bar) => colours[bar.kind]),
      };
    }

    function cutAtBorders(start, stop) {
      const bars = [];
      for (let i = passed(borders, start) - 1; i < borders.length - 1 && borders[i] < stop; i++) {
        const left = Math.max(start, borders[i]);
        const right = Math.min(stop, borders[i + 1]);
        const [, kind = "no region"] = pieceAt(i);
        if (left < right) bars.push({ left: startX(left), right: endX(right), kind });
      }
      return bars;
    }

    function joined(bars, gap) {
      const found = [];
      for (const bar of bars) {
        const last = found[found.length - 1];
        if (last && last.kind === bar.kind && bar.left - last.right < gap) last.right = bar.right;
        else found.push(bar);
      }
      return found;
    }

    function drawCurves() {
      model("mean-curve").data = curve((step) => numbers.mean(0, step));
      const { intervals } = numbers.detector();
      model("interval-band").data = intervals ? band(intervals) : { x: [], low: [], high: [] };
      drawEventCurves();
      drawChosenCurve();
    }

    function drawEventCurves() {
      const shown = page.events.map((_, i) => i).filter(numbers.isShown);
      const each = shown.map((i) => curve((step) => ofEvent(i, 0, step)));
      model("event-curves").data = { xs: each.map(({ x }) => x), ys: each.map(({ y }) => y) };
    }

    function band([low, high]) {
      const x = thresholds.flatMap((threshold, i) => [i === 0 ? 0 : thresholds[i - 1], threshold]);
      const twice = (ends) => ends.flatMap((end) => [end / 1000, end / 1000]);
      return { x, low: twice(low), high: twice(high) };
    }

    function drawChosenCurve() {
      const { event } = pageState.get();
      model("event-curve").data = event === null ? { x: [], y: [] } : curve((step) => ofEvent(event, 0, step));
    }

    // In steps: a value holds from the next lower threshold up to its own, so the area below is the mean.
    function curve(read) {
      const x = [0];
      const y = [read(1) / 1000];
      for (let step = 2; step <= steps; step++) {
        const [before, now] = [y[y.length - 1], read(step) / 1000];
        if (now === before) continue;
        x.push(thresholds[step - 2], thresholds[step - 2]);
        y.push(before, now);
      }
      x.push(thresholds[steps - 1]);
      y.push(y[y.length - 1]);
      return { x: Float64Array.from(x), y: Float64Array.from(y) };
    }

    function drawThreshold() {
      const threshold = thresholds[numbers.step() - 1];
      model("threshold").location = threshold;
      model("cursor").location = threshold;
    }

    function drawColours() {
      const style = getComputedStyle(document.documentElement);
      const ink = style.getPropertyValue("--ink").trim();
      const soft = style.getPropertyValue("--soft").trim();
      for (const axis of AXES.map(model).filter(Boolean)) {
        axis.axis_label_text_color = axis.major_label_text_color = soft;
        axis.axis_line_color = axis.major_tick_line_color = soft;
      }
      for (const name of ["threshold", "cursor", "near-in-use", "budget-line"]) model(name).line_color = ink;
      model("mean-line").glyph.line_color = ink;
      model("interval-area").glyph.fill_color = ink;
      if (values) model("values-line").glyph.line_color = ink;
    }

    function drawView() {
      for (const draw of [drawLines, drawEvents, drawDetections]) soon(draw);
    }

    new ResizeObserver(() => {
      if (timePlots.clientWidth === plotWidth) return;
      plotWidth = timePlots.clientWidth;
      drawView();
    }).observe(timePlots);

    return {
      drawView,
      drawLines,
      drawEvents,
      drawDetections,
      drawCurves,
      drawEventCurves,
      drawChosenCurve,
      drawThreshold,
      drawColours,
      view: () => [view.start, view.end],
      look: ([start, end]) => view.setv({ start, end }),
      // Draws other regions of events, such as those of labels that were corrected.
      showEvents(regions, namesOfThem = page.names) {
        events = regions;
        names = namesOfThem;
        borders = bordersOf(regions);
        drawView();
      },
    };
  }

  return { of, soon, model };
})();
