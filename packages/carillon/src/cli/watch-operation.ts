import type { Client } from "@carillon/client";
import type { BulkOperation } from "@carillon/contract";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { operationProgress } from "./output/operation-view.js";
import { ProgressLine } from "./output/progress-line.js";

const PAUSE_MS = 500;

/** Asks until it has ended, and shows how far it is. */
export async function watchOperation(io: Io, client: Client, started: BulkOperation): Promise<BulkOperation> {
  const line = new ProgressLine(io);
  for (let operation = started; ; operation = await client.operations.get(started.id)) {
    line.show(operationProgress(operation));
    if (operation.state !== "running") {
      line.clear();
      return operation;
    }
    await io.sleep(PAUSE_MS);
  }
}

export function exitCodeOfOperation({ state, failed }: BulkOperation): ExitCode {
  if (state === "aborted") return ExitCode.cancelled;
  return failed > 0 ? ExitCode.failure : ExitCode.ok;
}
