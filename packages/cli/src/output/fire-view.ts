import { describeFireNote, formatInstant, type PreviewedFire } from "@carillon/core";
import type { Column } from "../table.js";

export const fireColumns: readonly Column<PreviewedFire>[] = [
  { title: "UTC", value: ({ nominal }) => formatInstant(nominal) },
  { title: "LOCAL", value: ({ wallTime }) => wallTime },
  { title: "NOTE", value: ({ notes }) => notes.map(describeFireNote).join("; ") },
];

/** The same for machines. */
export const fireJson = ({ nominal, wallTime, notes }: PreviewedFire): object => ({
  at: formatInstant(nominal),
  local: wallTime,
  notes: notes.map(describeFireNote),
});
