import type { Client } from "@carillon/client";
import type { Backfill } from "@carillon/contract";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { progressOf } from "./output/backfill-view.js";
import { progressBar, ProgressLine } from "./output/progress-line.js";

const PAUSE_MS = 500;

/** Asks until it has ended, and shows how far it is. */
export async function watchBackfill(io: Io, client: Client, started: Backfill): Promise<Backfill> {
  const line = new ProgressLine(io);
  for (let backfill = started; ; backfill = await client.backfills.get(started.id)) {
    const { total, made, passed, skipped, state } = backfill;
    line.show(progressBar(total === 0 ? 1 : (made + passed + skipped) / total, progressOf(backfill)));
    if (state !== "running") {
      line.clear();
      return backfill;
    }
    await io.sleep(PAUSE_MS);
  }
}

export function exitCodeOfBackfill({ state }: Backfill): ExitCode {
  return state === "aborted" ? ExitCode.cancelled : ExitCode.ok;
}
