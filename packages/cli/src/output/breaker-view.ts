import type { Breaker } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

export const breakerColumns: readonly Column<Breaker>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "STATE", value: ({ state }) => state },
  { title: "REASON", value: ({ reason }) => reason },
  { title: "OPENED", value: ({ opened_at: at }) => at },
  { title: "TRIES AT", value: ({ probe_at: at }) => at ?? "" },
];

/** One breaker for people. */
export function renderBreaker(breaker: Breaker): string {
  return renderFields([
    ["name", breaker.name],
    ["state", breaker.state],
    ["reason", breaker.reason],
    ["opened", breaker.opened_at],
    ["tries at", breaker.probe_at ?? ""],
    ["openings", String(breaker.openings)],
  ]);
}
