import { CarillonError, checkLimits, keyedLimits, named } from "@carillon/core";
import type {
  ArrivedRun,
  BlockedRun,
  EndedRuns,
  LaneStore,
  LimitedLane,
  LimitIntake,
  Queryable,
  RefusedRun,
} from "@carillon/store";
import { gateOf, limitText } from "./limit-text.js";

export interface IntakeOptions {
  readonly limits: LimitIntake;
  readonly lanes: Pick<LaneStore, "get" | "known" | "ensure">;
  readonly settle: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

export interface TakenIn {
  readonly gates: readonly string[];
  /** Runs that ended, because their limits cannot be told from their payload. */
  readonly refused: readonly (RefusedRun & ArrivedRun)[];
  readonly ended: EndedRuns;
  readonly isMore: boolean;
}

/** Runs of one lane that one pass takes in, and of all lanes: its transaction has to end in time, however many lanes there are. */
const most = { ofEach: 500, ofAll: 2_000 };

/**
 * Writes down the limits of runs that were queued, and puts them behind their gates. Whoever makes runs only chooses their lane;
 * templates are filled in here, in one place, whoever made the run and however.
 */
export class Intake {
  readonly #options: IntakeOptions;
  /** Lanes take turns to be the first. */
  #turn = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  async take(all: readonly LimitedLane[]): Promise<TakenIn> {
    const { limits, settle } = this.#options;
    if (all.length === 0) return { gates: [], refused: [], ended: new Map(), isMore: false };
    const first = this.#turn++ % all.length;
    const lanes = [...all.slice(first), ...all.slice(0, first)];
    await this.#makeLanes(lanes);
    return settle(async (tx) => {
      const runs = await limits.intake(tx, lanes, most);
      const refused: (RefusedRun & ArrivedRun)[] = [];
      const blocked: BlockedRun[] = [];
      for (const run of runs) {
        const text = textOf(run);
        if (typeof text === "string") blocked.push({ id: run.id, limits: text, lane: this.#laneOf(run) });
        else refused.push({ ...run, error: named({ type: "LimitInvalid", message: text.why, retryable: false }) });
      }
      await limits.block(tx, blocked);
      const ended = await limits.refuse(tx, refused);
      const gates = [...new Set(blocked.map((run) => gateOf(run.limits)))];
      return { gates, refused, ended, isMore: runs.length >= most.ofEach };
    });
  }

  /** Outside the transaction: from where the runs are handed out once they are admitted. */
  async #makeLanes(lanes: readonly LimitedLane[]): Promise<void> {
    const names = lanes.flatMap(({ lane }) => {
      const found = this.#options.lanes.get(lane);
      return found === null ? [] : [{ ...found, kind: "admitted" as const }];
    });
    if (names.some((name) => this.#options.lanes.known(name) === null)) await this.#options.lanes.ensure(names);
  }

  #laneOf({ lane }: ArrivedRun): number {
    const { lanes } = this.#options;
    const found = lanes.get(lane);
    const twin = found === null ? null : lanes.known({ ...found, kind: "admitted" });
    if (twin === null) throw new Error(`the lane of runs that lane ${lane} admits is not known`);
    return twin;
  }
}

/**
 * A run that stands alone has the id of its job: what it has no key for is limited by its task. Plain SQL can ask for runs with any
 * policy, so whatever goes wrong here is wrong with that.
 */
function textOf(run: ArrivedRun): string | { readonly why: string } {
  const { id, jobId, task, queue, payload, policy, namespaceId } = run;
  const subject = { task, jobId: jobId === id ? null : jobId, payload };
  try {
    checkLimits(policy);
    return limitText(keyedLimits(policy, subject), { namespaceId, queue });
  } catch (error) {
    return { why: error instanceof CarillonError ? error.message : `the policy is not sound: ${String(error)}` };
  }
}
