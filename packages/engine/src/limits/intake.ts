import { CarillonError, checkLimits, keyedLimits, named } from "@carillon/core";
import type { ArrivedRun, BlockedRun, EndedRuns, LimitedLane, RefusedRun } from "@carillon/store";
import type { LimitOwnerCache } from "../catalog/catalog.js";
import type { EngineContext } from "../context.js";
import { gateOf, limitText } from "./limit-text.js";

export interface IntakeResult {
  readonly gates: readonly string[];
  /** Runs that ended because their limits cannot be read from their policy and payload. */
  readonly refused: readonly (RefusedRun & ArrivedRun)[];
  readonly ended: EndedRuns;
  readonly isMore: boolean;
}

/** Runs that one pass takes, of each lane and of all: its transaction has to end in time, however many lanes there are. */
const maxRuns = { ofEach: 500, ofAll: 2_000 };

/**
 * Stores the limits of runs that were queued and blocks the runs behind their gates. Code that makes runs only chooses their lane; the
 * templates of keys are filled in here, in one place for all of it.
 */
export class Intake {
  readonly #store: Pick<EngineContext["store"], "limits" | "lanes" | "historyTransaction">;
  /** Lanes take turns to be the first. */
  #turn = 0;

  constructor(store: Pick<EngineContext["store"], "limits" | "lanes" | "historyTransaction">) {
    this.#store = store;
  }

  async take(all: readonly LimitedLane[]): Promise<IntakeResult> {
    const { limits, historyTransaction } = this.#store;
    if (all.length === 0) return { gates: [], refused: [], ended: new Map(), isMore: false };
    const first = this.#turn++ % all.length;
    const lanes = [...all.slice(first), ...all.slice(0, first)];
    await this.#makeAdmittedLanes(lanes);
    return historyTransaction(async (tx) => {
      const runs = await limits.intake(tx, lanes, maxRuns);
      const refused: (RefusedRun & ArrivedRun)[] = [];
      const blocked: BlockedRun[] = [];
      for (const run of runs) {
        const text = textOf(run);
        if (typeof text === "string") blocked.push({ id: run.id, limits: text, lane: this.#admittedLaneOf(run) });
        else refused.push({ ...run, error: named({ type: "LimitInvalid", message: text.why, retryable: false }) });
      }
      await limits.block(tx, blocked);
      const ended = await limits.refuse(tx, refused);
      const gates = [...new Set(blocked.map((run) => gateOf(run.limits)))];
      return { gates, refused, ended, isMore: runs.length >= maxRuns.ofEach };
    });
  }

  /** Makes, outside the transaction, the lanes from which workers claim the runs once they are admitted. */
  async #makeAdmittedLanes(lanes: readonly LimitedLane[]): Promise<void> {
    const names = lanes.flatMap(({ lane }) => {
      const found = this.#store.lanes.get(lane);
      return found === null ? [] : [{ ...found, kind: "admitted" as const }];
    });
    if (names.some((name) => this.#store.lanes.known(name) === null)) await this.#store.lanes.ensure(names);
  }

  #admittedLaneOf({ lane }: ArrivedRun): number {
    const { lanes } = this.#store;
    const found = lanes.get(lane);
    const admitted = found === null ? null : lanes.known({ ...found, kind: "admitted" });
    if (admitted === null) throw new Error(`The lane of runs that lane ${lane} admits is not known.`);
    return admitted;
  }
}

/**
 * A one-off run has the id of its job: a limit without a key is its task's. Plain SQL can enqueue runs with any policy, so any error here is an
 * error of the policy.
 */
function textOf(run: ArrivedRun): string | { readonly why: string } {
  const { id, jobId, task, queue, payload, policy, namespaceId } = run;
  const subject = { task, jobId: jobId === id ? null : jobId, payload };
  try {
    checkLimits(policy);
    return limitText(keyedLimits(policy, subject), { namespaceId, queue });
  } catch (error) {
    return { why: error instanceof CarillonError ? error.message : `The policy is not valid: ${String(error)}` };
  }
}

type LimitedLanesContext = {
  readonly store: { readonly lanes: Pick<EngineContext["store"]["lanes"], "list" | "get"> };
  readonly membership: EngineContext["membership"];
  readonly shardCount: number;
};

/** Which lanes have limits, and of which of them this node admits the runs: lanes and gates are divided among nodes as shards are. */
export class LimitedLanes {
  readonly #context: LimitedLanesContext;
  readonly #owners: Pick<LimitOwnerCache, "all">;

  constructor(context: LimitedLanesContext, owners: Pick<LimitOwnerCache, "all">) {
    this.#context = context;
    this.#owners = owners;
  }

  /** The lanes whose new runs this node blocks behind their gates. */
  async own(): Promise<LimitedLane[]> {
    const all = await this.#context.store.lanes.list();
    const gated = all.filter((lane) => lane.kind === "gated" && this.#isOwn(lane.id));
    const open = all.filter(({ id, kind }) => ["plain", "solo", "lost"].includes(kind) && this.#isOwn(id));
    const ofOwners = this.#owners.all.flatMap(({ namespaceId, queue }) =>
      open.filter((lane) => queue === null || lane.queue === queue).map((lane) => ({ lane: lane.id, namespaceId })),
    );
    return [...gated.map((lane) => ({ lane: lane.id, namespaceId: null })), ...ofOwners];
  }

  /** The states in which runs of these lanes need their limits. blocked: behind their gate, after they were given back, rescued or retried. */
  statesOf(ids: readonly number[]): ReadonlySet<"new" | "blocked"> {
    const { lanes } = this.#context.store;
    const limited = new Set(this.#owners.all.map((owner) => owner.queue));
    const states = new Set<"new" | "blocked">();
    for (const id of ids) {
      const lane = lanes.get(id);
      if (lane?.kind === "admitted") states.add("blocked");
      // A lane that another node made a moment ago may be gated.
      else if (lane === null || lane.kind === "gated" || limited.has(null) || limited.has(lane.queue))
        states.add("new");
    }
    return states;
  }

  /** Whether this node admits the runs behind a gate. Only so that one node does the work: two that do it at once do no harm. */
  isHome(gate: string): boolean {
    return this.#isOwn(hashOf(gate));
  }

  #isOwn(shard: number): boolean {
    return this.#context.membership().epochs.has(shard % this.#context.shardCount);
  }
}

/** FNV-1a: the home of a gate is the same on every node. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
