import type { FireStore } from "../../../../src/schedules/fire-store.js";
import type { StatementFault } from "../draw/plan.js";

export interface ArmedFault {
  readonly how: StatementFault;
  readonly forMs: number;
}

export interface Faults {
  /** Returns the fault of the next statement; called once per statement. */
  readonly take: () => ArmedFault | null;
  /** Resolves when the hanging statement continues. */
  readonly hang: (forMs: number) => Promise<void>;
  readonly crash: () => void;
}

/** Wraps a scheduler's store: statements are lost before they run, or their answers afterwards. */
export function faultyStore(store: FireStore, faults: Faults): FireStore {
  const around = async <Answer>(statement: () => Promise<Answer>): Promise<Answer> => {
    const fault = faults.take();
    if (fault === null) return statement();
    const { how, forMs } = fault;
    if (how === "stall") await faults.hang(forMs);
    if (how === "before" || how === "crash_before") fail(how, faults);
    const answer = await statement();
    if (how === "after" || how === "crash_after") fail(how, faults);
    return answer;
  };
  return {
    load: (...args) => around(() => store.load(...args)),
    fire: (...args) => around(() => store.fire(...args)),
    settle: (...args) => around(() => store.settle(...args)),
    pass: (...args) => around(() => store.pass(...args)),
    hold: (...args) => around(() => store.hold(...args)),
    release: (...args) => around(() => store.release(...args)),
    quarantine: (...args) => around(() => store.quarantine(...args)),
    windows: () => around(() => store.windows()),
    loadRuns: (...args) => around(() => store.loadRuns(...args)),
    promote: (...args) => around(() => store.promote(...args)),
  };
}

/** Fails as a reset connection does. */
function fail(how: StatementFault, faults: Faults): never {
  if (how === "crash_before" || how === "crash_after") faults.crash();
  throw Object.assign(new Error(`the connection was lost: ${how}`), { code: "ECONNRESET" });
}
