import type { Client } from "@carillon/client";
import type { Backfill } from "@carillon/contract";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { progressOf } from "./output/backfill-view.js";

const PAUSE_MS = 500;

/** Asks until it has ended, and says so whenever it got on. */
export async function watchBackfill(io: Io, client: Client, started: Backfill): Promise<Backfill> {
  let backfill = started;
  for (let said = ""; ;) {
    const line = progressOf(backfill);
    if (line !== said) io.talk(`carillon: ${line}`);
    said = line;
    if (backfill.state !== "running") return backfill;
    await io.sleep(PAUSE_MS);
    backfill = await client.backfills.get(backfill.id);
  }
}

export function exitCodeOfBackfill({ state }: Backfill): ExitCode {
  return state === "aborted" ? ExitCode.cancelled : ExitCode.ok;
}
