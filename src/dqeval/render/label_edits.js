// Events that a reader corrects, step by step: what may be done to them, undone and done again. It knows nothing of the
// page. An event is {id, start, stop, name, note}, from one position up to another; those of the file have their
// position among the file's events as id. Events are ascending, at least a point apart, and cross no gap, so each is
// one event for dqeval too. An edit is {from, to}: one event before and behind it; null where there is none.
const labelEdits = (() => {
  "use strict";
  const LONGEST_NOTE = 500;

  // From where to where there is room between the neighbours of a place, where no gap is crossed.
  function room(before, behind, [begins, closes]) {
    return [
      before && before.stop > begins ? before.stop + 1 : begins,
      behind && behind.start < closes ? behind.start - 1 : closes,
    ];
  }

  // How far an event may reach.
  function limitsOf(events, i, series) {
    return room(events[i - 1], events[i + 1], eventScores.stretchOf(events[i], series));
  }

  // From where to where there is no event around a point; null where there is one, or right beside it.
  function freeAround(events, point, series) {
    const i = events.findIndex((event) => event.start > point);
    const behind = i < 0 ? events.length : i;
    const stretch = eventScores.stretchOf({ start: point, stop: point + 1 }, series);
    const [low, high] = room(events[behind - 1], events[behind], stretch);
    return low <= point && point < high ? [low, high] : null;
  }

  // An event with one of its borders, start or stop, at a position, or as near to it as there is room.
  function moved(events, i, border, position, series) {
    const event = events[i];
    const [low, high] = limitsOf(events, i, series);
    const [least, most] = border === "start" ? [low, event.stop - 1] : [event.start + 1, high];
    return { ...event, [border]: Math.min(most, Math.max(least, Math.round(position))) };
  }

  // What an event between two points, both in it, may be; null where there is one already.
  function between(events, point, other, series) {
    const free = freeAround(events, point, series);
    if (!free) return null;
    const [low, high] = free;
    return { start: Math.max(low, Math.min(point, other)), stop: Math.min(high, Math.max(point, other) + 1) };
  }

  const noted = (event, note) => ({ ...event, note: note.slice(0, LONGEST_NOTE) });

  const isThere = (one, other) => one.start === other.start && one.stop === other.stop;
  const isSame = (one, other) => isThere(one, other) && one.note === other.note;

  function applied(events, { from, to }) {
    const rest = from ? events.filter((event) => event.id !== from.id) : events;
    return to ? [...rest, to].sort((one, other) => one.start - other.start) : rest;
  }

  // Whether an edit can be applied, as one may not that some other program has kept.
  function fits(events, { from, to }, series) {
    const i = events.findIndex((event) => event.id === from?.id);
    if (from && (i < 0 || !isSame(events[i], from))) return false;
    if (!to) return Boolean(from);
    const rest = from ? events.filter((event) => event.id !== from.id) : events;
    const isText = [to.name, to.note].every((text) => typeof text === "string");
    const isAlone = (id) => /^new-\d+$/.test(id) && rest.every((event) => event.id !== id);
    const isNamed = from ? to.id === from.id && to.name === from.name : isAlone(to.id);
    if (!isText || !isNamed || !Number.isInteger(to.start) || !Number.isInteger(to.stop)) return false;
    const free = to.start >= 0 && to.stop > to.start ? freeAround(rest, to.start, series) : null;
    return Boolean(free) && to.stop <= free[1];
  }

  // The events of a file, and what was done to them. `changed` is called after every change.
  function history(original, series, changed) {
    let events = original;
    let edits = [];
    let done = 0; // of the edits; the others were undone
    let joins = null; // what the last edit was, if one of the same kind would continue it

    function go(to, now) {
      events = now;
      done = to;
      joins = null;
      changed();
    }

    const undone = ({ from, to }) => ({ from: to, to: from });

    return {
      events: () => events,
      canUndo: () => done > 0,
      canRedo: () => done < edits.length,
      undo: () => done > 0 && go(done - 1, applied(events, undone(edits[done - 1]))),
      redo: () => done < edits.length && go(done + 1, applied(events, edits[done])),
      discard() {
        edits = [];
        go(0, original);
      },

      // Puts `to` in place of `from`. One that continues the last, as a key that is held down does, is undone with it.
      edit(from, to, kind = null) {
        if (from && to && isSame(from, to)) return;
        const last = edits[done - 1];
        const continues = kind !== null && kind === joins && last.to?.id === from?.id;
        const first = continues ? last.from : from;
        const isBack = continues && first && isSame(first, to);
        edits = [...edits.slice(0, continues ? done - 1 : done), ...(isBack ? [] : [{ from: first, to }])];
        go(edits.length, applied(events, { from, to }));
        joins = kind;
      },

      newId: () => `new-${1 + Math.max(0, ...edits.map(({ to }) => Number(/^new-(\d+)$/.exec(to?.id)?.[1] ?? 0)))}`,

      // How many events differ from the file's, by how. One that was deleted and drawn again is the file's.
      changes() {
        const before = new Map(original.map((event) => [event.id, event]));
        const stayed = events.filter((event) => before.has(event.id));
        const noted = events.filter((event) => event.note !== "").length;
        const isAlike = events.length === original.length && events.every((event, i) => isThere(event, original[i]));
        if (isAlike) return { moved: 0, added: 0, deleted: 0, noted };
        return {
          moved: stayed.filter((event) => !isThere(event, before.get(event.id))).length,
          added: events.length - stayed.length,
          deleted: original.length - stayed.length,
          noted,
        };
      },

      // What to keep, and back: false if it is not of this file.
      kept: () => JSON.stringify({ version: 1, edits, done }),
      restore(text) {
        try {
          const found = JSON.parse(text);
          if (found.version !== 1 || !Array.isArray(found.edits)) return false;
          if (!Number.isInteger(found.done) || found.done < 0 || found.done > found.edits.length) return false;
          const states = [original];
          for (const edit of found.edits) {
            const now = states[states.length - 1];
            if (!fits(now, edit, series)) return false;
            states.push(applied(now, edit));
          }
          edits = found.edits;
          go(found.done, states[found.done]);
          return true;
        } catch {
          return false;
        }
      },
    };
  }

  return { LONGEST_NOTE, limitsOf, freeAround, moved, between, noted, applied, history };
})();
