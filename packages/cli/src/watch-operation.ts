import type { Client } from "@carillon/client";
import type { BulkOperation } from "@carillon/contract";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { operationProgress } from "./output/operation-view.js";
import { ProgressLine } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";

const PAUSE_MS = 500;

/** Asks until it has ended, and shows how far it is. */
export async function watchOperation(io: Io, client: Client, started: BulkOperation): Promise<BulkOperation> {
  const line = new ProgressLine(io);
  const absence = new Reconnect(line.ioAbove(io), { hasAnswered: true });
  const look = (): Promise<BulkOperation> => absence.retryWhileAway(() => client.operations.get(started.id));
  const letGo = io.onInterrupt(() =>
    line.print(
      `carillon: ${started.id} goes on without us; look again with: carillon operation get ${started.id} --watch`,
    ),
  );
  try {
    for (let operation = started; ; operation = await look()) {
      line.show(operationProgress(operation));
      if (operation.state !== "running") return operation;
      await io.sleep(PAUSE_MS);
    }
  } finally {
    letGo();
    line.clear();
  }
}

export function exitCodeOfOperation({ state, failed }: BulkOperation): ExitCode {
  if (state === "aborted") return ExitCode.cancelled;
  return failed > 0 ? ExitCode.failure : ExitCode.ok;
}
