// Events as the files that `dqeval score --incidents` reads, and as one label per point. It knows nothing of the page.
const labelFiles = (() => {
  "use strict";
  const PER_MILLISECOND = 1_000_000n;
  const PER_MINUTE = 60_000_000_000n;
  const OFFSET = /(Z|[+-]\d\d:\d\d)?$/;

  // A date as text, with as many digits as it needs; of a time zone, as its clocks show it, with their offset.
  function dateText(nanoseconds, offsets) {
    const at = offsets && Math.max(ascending.passed(offsets.map(([begin]) => begin), nanoseconds) - 1, 0);
    const ahead = offsets ? offsets[at][1] : 0;
    const local = nanoseconds + BigInt(ahead) * PER_MINUTE;
    let rest = local % PER_MILLISECOND;
    if (rest < 0n) rest += PER_MILLISECOND;
    const shown = new Date(Number((local - rest) / PER_MILLISECOND)).toISOString().slice(0, -1);
    const digits = shown.slice(20) + String(rest).padStart(6, "0");
    const needed = digits.replace(/0+$/, "");
    return shown.slice(0, 19) + (needed && `.${needed}`) + (offsets ? offsetText(ahead) : "");
  }

  function offsetText(minutes) {
    if (minutes === 0) return "Z";
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
  }

  // Two moments for people: to the minute where that is enough, and the date and the offset once if they are the same.
  function inWords(start, stop) {
    const [before, after] = [start, stop].map((text) => OFFSET.exec(text)[0].replace("Z", "UTC"));
    const [first, last] = [start, stop].map((text) => text.replace(OFFSET, "").replace("T", " "));
    const toMinute = [first, last].every((text) => /:\d\d:00$/.test(text)) ? (text) => text.slice(0, -3) : String;
    const [day, clock] = last.split(" ");
    const begin = before === after ? "" : ` ${before}`;
    const end = after && ` ${after}`;
    return `${toMinute(first)}${begin} – ${toMinute(clock && first.startsWith(day) ? clock : last)}${end}`;
  }

  // When points are, as text: `clock` says so, as render/series_page.py writes it. Without one, points are counted.
  function timesOf(clock, breaks, gaps) {
    if (!clock) return { start: String, end: String, isKnown: false, words: (first, stop) => `[${first}, ${stop})` };
    const offsets = clock.offsets?.map(([begin, minutes]) => [BigInt(begin), minutes]);
    const shown = (ticks) => (clock.kind === "number" ? String(ticks) : dateText(ticks, offsets));
    if (clock.ticks) {
      // Samples that are not even: an event ends right behind its last one.
      const behind = BigInt(clock.behind);
      const start = (position) => shown(clock.ticks[position]);
      return {
        start,
        end: (position) => shown(clock.ticks[position - 1] + behind),
        isKnown: true,
        words: (first, stop) => inWords(start(first), start(stop - 1)),
      };
    }
    const [origin, step] = [BigInt(clock.origin), BigInt(clock.step)];
    const skipped = [0];
    for (const gap of gaps) skipped.push(skipped[skipped.length - 1] + gap);
    const at = (position, passed) => shown(origin + step * BigInt(position + skipped[passed]));
    const start = (position) => at(position, ascending.passed(breaks, position));
    const end = (position) => at(position, ascending.passed(breaks, position, { below: true }));
    return { start, end, isKnown: true, words: (first, stop) => inWords(start(first), end(stop)) };
  }

  const quoted = (cell) => (/[",\r\n]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell);

  const inLines = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");

  // What a spreadsheet would take for a formula has a ' before it, as in all tables of dqeval (in_csv).
  const FORMULA = /^[\t\r\n]*'*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
  const plain = (text) => (FORMULA.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);

  // A row per event.
  function intervalsCsv(events, times) {
    const rows = events.map(({ start, stop, name, note }) =>
      [times.start(start), times.end(stop), plain(name), plain(note)]);
    return inLines([["start", "end", "name", "note"], ...rows]);
  }

  // A row per point.
  function labelsCsv(events, length, times) {
    const labels = new Uint8Array(length);
    for (const { start, stop } of events) labels.fill(1, start, stop);
    const lines = [times.isKnown ? "timestamp,label\n" : "label\n"];
    labels.forEach((label, t) => lines.push(times.isKnown ? `${times.start(t)},${label}\n` : `${label}\n`));
    return lines.join("");
  }

  // A task of Label Studio with one annotation. Points are counted in numbers, where there are no times.
  function labelStudioJson(events, series, times) {
    const shown = (text) => (/^-?\d+$/.test(text) ? Number(text) : text);
    const named = new Map(); // how many have each name: parts of an incident that is cut at a gap have the same one
    for (const { name } of events) named.set(name, (named.get(name) ?? 0) + 1);
    const result = events.map(({ id, start, stop, name, note }) => ({
      id: name && named.get(name) === 1 ? name : `event-${id}`,
      type: "timeserieslabels",
      from_name: "label",
      to_name: "ts",
      value: {
        start: shown(times.start(start)),
        end: shown(times.end(stop)),
        instant: false,
        timeserieslabels: ["anomaly"],
      },
      ...(note && { meta: { text: [note] } }),
    }));
    const task = { id: 1, data: { csv: `${series}.csv` }, annotations: [{ id: 1, was_cancelled: false, result }] };
    return `${JSON.stringify([task], null, 1)}\n`;
  }

  return { timesOf, intervalsCsv, labelsCsv, labelStudioJson };
})();
