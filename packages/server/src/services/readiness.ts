import { type Database, writeProbe } from "@carillon/engine";
import type { HealthCheck, HealthPort } from "../api/http/handler.js";
import { within } from "../timeout.js";

/** A probe that hangs is worse than one that says no. */
const LIMIT_MS = 2_000;

/** Ready means that the database answers and takes writes now, not that it did a while ago. Those who ask at the same time share a question. */
export function readiness(database: () => Database): HealthPort {
  let asked: Promise<readonly HealthCheck[]> | null = null;
  const probes = new WeakMap<Database, () => Promise<boolean>>();
  const probeOf = (of: Database): (() => Promise<boolean>) => {
    const probe = probes.get(of) ?? writeProbe(of);
    probes.set(of, probe);
    return probe;
  };
  const ask = (): Promise<readonly HealthCheck[]> => {
    const checks = [
      bounded("database", () => checkDatabase(database())),
      bounded("writes", () => checkWrites(probeOf(database()))),
    ];
    return Promise.all(checks).finally(() => {
      asked = null;
    });
  };
  return { ready: () => (asked ??= ask()) };
}

function bounded(name: string, check: () => Promise<string>): Promise<HealthCheck> {
  const asked = answered(name, check);
  return within(LIMIT_MS, asked, () => ({ name, ok: false, detail: `no answer within ${LIMIT_MS} ms` }));
}

async function answered(name: string, check: () => Promise<string>): Promise<HealthCheck> {
  try {
    return { name, ok: true, detail: await check() };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function checkDatabase(database: Database): Promise<string> {
  const { roundTripMs } = await database.clock.tick();
  return `answers in ${Math.ceil(roundTripMs)} ms`;
}

async function checkWrites(canWrite: () => Promise<boolean>): Promise<string> {
  if (await canWrite()) return "taken";
  throw new Error("somebody holds a lock on a table that calls write to");
}
