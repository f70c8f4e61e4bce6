import { type FireNote, type PreviewedFire, formatInstant } from "@carillon/core";
import type { Column } from "./table.js";

/** Why a fire is not simply what the rule says, in words. */
function noteText(note: FireNote): string {
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

export const fireColumns: readonly Column<PreviewedFire>[] = [
  { title: "UTC", value: ({ nominal }) => formatInstant(nominal) },
  { title: "LOCAL", value: ({ wallTime }) => wallTime },
  { title: "NOTE", value: ({ notes }) => notes.map(noteText).join("; ") },
];

/** The same for machines. */
export const fireJson = ({ nominal, wallTime, notes }: PreviewedFire): object => ({
  at: formatInstant(nominal),
  local: wallTime,
  notes: notes.map(noteText),
});
