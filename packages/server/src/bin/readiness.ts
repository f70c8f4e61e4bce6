import type { Database } from "@carillon/engine";
import type { HealthCheck, HealthPort } from "../api/ports.js";
import { within } from "../lifecycle/within.js";

/** A probe that hangs is worse than one that says no. */
const LIMIT_MS = 2_000;

/** Ready means that the database answers now, not that it did a while ago. */
export function readiness(database: () => Database): HealthPort {
  return {
    ready: async () => [
      await within(LIMIT_MS, checkDatabase(database()), () => failed(`no answer within ${LIMIT_MS} ms`)),
    ],
  };
}

async function checkDatabase(database: Database): Promise<HealthCheck> {
  try {
    const { roundTripMs } = await database.clock.tick();
    return { name: "database", ok: true, detail: `answers in ${Math.ceil(roundTripMs)} ms` };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

const failed = (detail: string): HealthCheck => ({ name: "database", ok: false, detail });
