import type { Queue, QueueStats } from "@carillon/contract";
import { ownLimitFields } from "./own-limits.js";
import { type Column, renderFields } from "../table.js";

const stateOf = ({ paused, pause }: Queue): string => {
  if (!paused) return "open";
  return pause?.reason === null || pause?.reason === undefined ? "paused" : `paused (${pause.reason})`;
};

export const queueColumns: readonly Column<Queue>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "STATE", value: stateOf },
  { title: "ORDER", value: ({ order }) => order },
  { title: "BOUND", value: ({ bound }) => bound ?? "" },
];

/** One queue for people; JSON has the rest. */
export function renderQueue(queue: Queue, stats: QueueStats | null): string {
  return renderFields([
    ["name", queue.name],
    ["state", stateOf(queue)],
    ["order", queue.order],
    ["bound", queue.bound],
    ...ownLimitFields(queue),
    ...(stats === null ? [] : statsFields(stats)),
  ]);
}

function statsFields({ queued, running, exact, wait_ms: waitMs, workers, slots }: QueueStats): [string, string][] {
  const more = exact ? "" : " or more";
  return [
    ["queued", `${queued}${more}`],
    ["running", `${running}${more}`],
    ["longest wait", `${Math.round(waitMs / 1_000)} s`],
    ["workers", `${workers}, with ${slots} slots`],
  ];
}
