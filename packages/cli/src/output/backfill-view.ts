import type { Backfill } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

const stateOf = ({ state, reason }: Backfill): string => (reason === null ? state : `${state} (${reason})`);

/** How far it is, in a line. */
export function progressOf({ total, made, passed, skipped, state }: Backfill): string {
  const left = [passed > 0 ? `${passed} ran before` : "", skipped > 0 ? `${skipped} left out for overlap` : ""];
  const parts = [`${made} of ${total} made`, ...left.filter((part) => part !== "")];
  return `${state}: ${parts.join(", ")}`;
}

export const backfillColumns: readonly Column<Backfill>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "STATE", value: stateOf },
  { title: "FROM", value: ({ from }) => from },
  { title: "TO", value: ({ to }) => to },
  { title: "MADE", value: ({ made, total }) => `${made}/${total}`, align: "right" },
  { title: "RAN BEFORE", value: ({ passed }) => String(passed), align: "right" },
  { title: "OVERLAP", value: ({ skipped }) => String(skipped), align: "right" },
];

/** One backfill for people; JSON has the rest. */
export function renderBackfill(backfill: Backfill): string {
  return renderFields([
    ["id", backfill.id],
    ["job", backfill.job_id],
    ["state", stateOf(backfill)],
    ["range", `${backfill.from} to ${backfill.to}`],
    ["occurrences", String(backfill.total)],
    ["made", String(backfill.made)],
    ["ran before", String(backfill.passed)],
    ["overlap", String(backfill.skipped)],
    ["through", backfill.through],
    ["rate", `${backfill.per_second} a second, ${backfill.concurrency} at a time`],
    ["finished", backfill.finished_at],
  ]);
}
