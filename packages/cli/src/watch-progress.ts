import type { Client } from "@carillon/client";
import type { Backfill, BulkOperation } from "@carillon/contract";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { progressBar, ProgressLine } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";

const pollMs = 500;

interface Watched<Work> {
  /** As it was when the watch began. */
  readonly started: Work;
  readonly read: () => Promise<Work>;
  readonly progress: (work: Work) => string;
  /** The command that shows it again. */
  readonly again: string;
}

/** Polls work that a server does by itself until it has ended, and shows its progress. */
async function watch<Work extends { readonly id: string; readonly state: string }>(
  io: Io,
  { started, read, progress, again }: Watched<Work>,
): Promise<Work> {
  const line = new ProgressLine(io);
  const reconnect = new Reconnect(line.ioAbove(io), { hasAnswered: true });
  const removeListener = io.onInterrupt(() =>
    line.print(`carillon: ${started.id} goes on in the server; watch it again with: carillon ${again}`),
  );
  try {
    for (let work = started; ; work = await reconnect.retryWhileAway(read)) {
      line.show(progress(work));
      if (work.state !== "running") return work;
      await io.sleep(pollMs);
    }
  } finally {
    removeListener();
    line.clear();
  }
}

export function watchBackfill(io: Io, client: Client, started: Backfill): Promise<Backfill> {
  return watch(io, {
    started,
    read: () => client.backfills.get(started.id),
    progress: backfillProgress,
    again: `backfill get ${started.id} --watch`,
  });
}

function backfillProgress({ total, made, passed, skipped, state }: Backfill): string {
  const parts = [
    `${made} of ${total} made`,
    ...(passed > 0 ? [`${passed} ran before`] : []),
    ...(skipped > 0 ? [`${skipped} left out for overlap`] : []),
  ];
  return progressBar(total === 0 ? 1 : (made + passed + skipped) / total, `${state}: ${parts.join(", ")}`);
}

export const exitCodeOfBackfill = ({ state }: Backfill): ExitCode =>
  state === "aborted" ? ExitCode.cancelled : ExitCode.ok;

export function watchOperation(io: Io, client: Client, started: BulkOperation): Promise<BulkOperation> {
  return watch(io, {
    started,
    read: () => client.operations.get(started.id),
    progress: operationProgress,
    again: `operation get ${started.id} --watch`,
  });
}

export const operationState = ({ state, state_reason: reason }: BulkOperation): string =>
  reason === null ? state : `${state} (${reason})`;

/** With a bar only if the number of runs is known. */
function operationProgress(operation: BulkOperation): string {
  const { total, seen, done, failed, skipped } = operation;
  const text = `${operationState(operation)}: ${done} done, ${failed} failed, ${skipped} skipped of ${seen} seen`;
  return total === null || total === 0 ? text : progressBar(seen / total, text);
}

export function exitCodeOfOperation({ state, failed }: BulkOperation): ExitCode {
  if (state === "aborted") return ExitCode.cancelled;
  return failed > 0 ? ExitCode.failure : ExitCode.ok;
}
