import { type IdPrefix, shownId } from "@carillon/core";
import type { DatabaseEvent, EngineEvent } from "@carillon/engine";
import type { WorkerEvent } from "@carillon/worker";

/** What an app with the engine inside tells. Ids are as everywhere: run_…, job_…. */
export type AppEvent = EngineEvent | WorkerEvent | DatabaseEvent;

export type AppListener<Type extends AppEvent["type"]> = (event: Extract<AppEvent, { type: Type }>) => void;

const prefixes: Readonly<Record<string, IdPrefix>> = {
  runId: "run",
  jobId: "job",
  nodeId: "node",
  sessionId: "wrk",
  backfillId: "bkf",
};

/** Inside the engine ids are bare UUIDs. */
export function shownEvent(event: AppEvent): AppEvent {
  const shown: Record<string, unknown> = { ...event };
  for (const [name, prefix] of Object.entries(prefixes)) {
    const id = shown[name];
    if (typeof id === "string") shown[name] = shownId(prefix, id);
  }
  if (event.type === "shards.taken_over") shown["from"] = shownId("node", event.from);
  return shown as unknown as AppEvent;
}
