import type { BulkOperation } from "@carillon/contract";
import { progressBar } from "../progress-line.js";
import { type Column, renderFields } from "../table.js";

const stateOf = ({ state, state_reason: reason }: BulkOperation): string =>
  reason === null ? state : `${state} (${reason})`;

export const operationColumns: readonly Column<BulkOperation>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "ACTION", value: ({ action }) => action },
  { title: "STATE", value: stateOf },
  { title: "SEEN", value: ({ seen, total }) => (total === null ? String(seen) : `${seen}/${total}`), align: "right" },
  { title: "DONE", value: ({ done }) => String(done), align: "right" },
  { title: "FAILED", value: ({ failed }) => String(failed), align: "right" },
  { title: "SKIPPED", value: ({ skipped }) => String(skipped), align: "right" },
  { title: "CREATED", value: (operation) => operation.created_at },
];

/** How far it is, in a line; with a bar where it is known how many there are. */
export function operationProgress(operation: BulkOperation): string {
  const { total, seen, done, failed, skipped } = operation;
  const text = `${stateOf(operation)}: ${done} done, ${failed} failed, ${skipped} skipped of ${seen} seen`;
  return total === null || total === 0 ? text : progressBar(seen / total, text);
}

/** One operation for people; JSON has the rest. */
export function renderOperation(operation: BulkOperation): string {
  return renderFields([
    ["id", operation.id],
    ["action", operation.action],
    ["state", stateOf(operation)],
    ["seen", operation.total === null ? String(operation.seen) : `${operation.seen} of ${operation.total}`],
    ["done", String(operation.done)],
    ["failed", String(operation.failed)],
    ["skipped", String(operation.skipped)],
    ...operation.failures.map(({ id, detail }) => ["failure", `${id}: ${detail}`] as const),
    ["created", operation.created_at],
    ["finished", operation.finished_at],
  ]);
}
