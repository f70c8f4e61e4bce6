import type { Client } from "@carillon/client";
import type { Backfill } from "@carillon/contract";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { progressOf } from "./output/backfill-view.js";
import { progressBar, ProgressLine } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";

const PAUSE_MS = 500;

/** Asks until it has ended, and shows how far it is. */
export async function watchBackfill(io: Io, client: Client, started: Backfill): Promise<Backfill> {
  const line = new ProgressLine(io);
  const absence = new Reconnect(line.ioAbove(io), { hasAnswered: true });
  const look = (): Promise<Backfill> => absence.retryWhileAway(() => client.backfills.get(started.id));
  const letGo = io.onInterrupt(() =>
    line.print(
      `carillon: ${started.id} goes on without us; look again with: carillon backfill get ${started.id} --watch`,
    ),
  );
  try {
    for (let backfill = started; ; backfill = await look()) {
      const { total, made, passed, skipped, state } = backfill;
      line.show(progressBar(total === 0 ? 1 : (made + passed + skipped) / total, progressOf(backfill)));
      if (state !== "running") return backfill;
      await io.sleep(PAUSE_MS);
    }
  } finally {
    letGo();
    line.clear();
  }
}

export function exitCodeOfBackfill({ state }: Backfill): ExitCode {
  return state === "aborted" ? ExitCode.cancelled : ExitCode.ok;
}
