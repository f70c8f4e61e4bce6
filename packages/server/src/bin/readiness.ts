import type { Database } from "@carillon/engine";
import type { HealthCheck, HealthPort } from "../api/ports.js";
import { within } from "../lifecycle/within.js";

/** A probe that hangs is worse than one that says no. */
const LIMIT_MS = 2_000;

/** Ready means that the database answers now, not that it did a while ago. Those who ask at the same time share a question. */
export function readiness(database: () => Database): HealthPort {
  let asked: Promise<HealthCheck> | null = null;
  const ask = (): Promise<HealthCheck> =>
    within(LIMIT_MS, checkDatabase(database()), () => failed(`no answer within ${LIMIT_MS} ms`)).finally(() => {
      asked = null;
    });
  return { ready: async () => [await (asked ??= ask())] };
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
