import type { Limit } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

/** The limit in words, as `limit set` takes it. */
const boundOf = ({ kind, limit, per }: Limit): string => {
  if (kind === "order") return "one at a time, in order";
  return per === null ? `${limit} at a time` : `${limit} per ${per}`;
};

const waitingOf = ({ waiting, waiting_exact: isExact }: Limit): string => `${waiting}${isExact ? "" : " or more"}`;

export const limitColumns: readonly Column<Limit>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "OF", value: ({ scope }) => scope },
  { title: "KEY", value: ({ key }) => key },
  { title: "LIMIT", value: boundOf },
  { title: "USED", value: ({ used }) => String(used), align: "right" },
  { title: "WAITING", value: waitingOf, align: "right" },
  { title: "SET BY", value: ({ fixed, scope }) => (fixed ? "hand" : scope === "key" ? "runs" : scope) },
];

/** One limit for people; JSON has the rest. */
export function renderLimit(limit: Limit): string {
  return renderFields([
    ["id", limit.id],
    ["of", `${limit.scope} ${limit.key}`.trim()],
    ["kind", limit.kind],
    ["limit", boundOf(limit)],
    ["burst", limit.burst === null ? null : String(limit.burst)],
    ["set by hand", limit.fixed ? "yes" : "no"],
    ["used", String(limit.used)],
    ["waiting", waitingOf(limit)],
    ["oldest waits since", limit.oldest_waiting_at],
    ["room again", limit.next_room_at],
    ["stopped by", limit.stopped_by],
  ]);
}
