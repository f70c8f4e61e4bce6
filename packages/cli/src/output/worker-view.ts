import type { Worker } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

const stateOf = ({ state, in_process: inProcess }: Worker): string => (inProcess ? `${state} (in a node)` : state);

export const workerColumns: readonly Column<Worker>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATE", value: stateOf },
  { title: "QUEUES", value: ({ queues }) => queues.join(",") },
  { title: "SLOTS", value: ({ slots }) => String(slots), align: "right" },
  { title: "HEARTBEAT", value: ({ heartbeat_at: at }) => at },
  { title: "TASKS", value: ({ tasks }) => someOf(tasks) },
];

const maxNamed = 8;

function someOf(tasks: readonly string[]): string {
  const more = tasks.length > maxNamed ? `,… ${tasks.length - maxNamed} more` : "";
  return `${tasks.slice(0, maxNamed).join(",")}${more}`;
}

/** One worker for people. */
export function renderWorker(worker: Worker): string {
  return renderFields([
    ["id", worker.id],
    ["name", worker.name],
    ["state", stateOf(worker)],
    ["queues", worker.queues.join(", ")],
    ["tasks", worker.tasks.join(", ")],
    ["slots", String(worker.slots)],
    ["labels", pairs(worker.labels)],
    ["versions", pairs(worker.versions)],
    ["weights", pairs(worker.weights)],
    ["spot", worker.spot ? "yes" : "no"],
    ["started", worker.started_at],
    ["heartbeat", worker.heartbeat_at],
  ]);
}

function pairs(record: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(record).map(([key, value]) => `${key}=${String(value)}`);
  return texts.length === 0 ? "-" : texts.join(" ");
}
