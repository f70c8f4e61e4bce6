import type { FireNote } from "../schedule/compiled.js";
import { formatInstant } from "../time/instant-text.js";

/** Why a fire is not simply what the rule says, in words. */
export function describeFireNote(note: FireNote): string {
  switch (note.kind) {
    case "gap":
      return `the clocks skip ${note.wallTime}`;
    case "overlap":
      return `${note.pass} pass of a repeated hour`;
    case "rolled":
      return `moved from ${formatInstant(note.from)} by ${note.calendar}`;
    case "merged":
      return `stands for ${formatInstant(note.from)} too, by ${note.calendar}`;
    case "excluded":
      return `left out by ${note.calendar}${note.reason === undefined ? "" : ` (${note.reason})`}`;
    case "jittered":
      return `${note.byMs} ms later by jitter`;
    default:
      return note satisfies never;
  }
}
