import type { Clock } from "@carillon/core";
import { type ClaimedRun, type ClaimStore, Coalescer, type Queued } from "@carillon/store";
import type { ClaimOf, StartedRun } from "./worker-registration.js";
import type { WorkerSession } from "./worker-session.js";

export interface HeldClaimsOptions {
  readonly claims: Pick<ClaimStore, "giveBack" | "started" | "recall" | "held">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Runs that were to stop came back from their worker: nobody is to try them again. */
  readonly onStopped: (runIds: readonly string[]) => Promise<void>;
}

/** Sessions that are asked about together. */
const bounds = { maxBatch: 1_000, maxQueued: 20_000 };

/** What workers say of runs that they hold, beside their results. */
export class HeldClaims {
  readonly #options: HeldClaimsOptions;
  readonly #held: Coalescer<string, ClaimedRun[]>;

  constructor(options: HeldClaimsOptions) {
    this.#options = options;
    this.#held = new Coalescer({
      ...bounds,
      write: async (sessionIds) => {
        const held = new Map<string, ClaimedRun[]>(sessionIds.map((id) => [id, []]));
        for (const run of await options.claims.held(sessionIds)) held.get(run.session)?.push(run);
        return sessionIds.map((id) => held.get(id) ?? []);
      },
    });
  }

  /** What a session holds. Each question reads all live runs: those that come together, when a node goes, share one. */
  heldBy(sessionId: string): Promise<readonly ClaimedRun[]> {
    return this.#held.add(sessionId);
  }

  /** Returns runs that were not finished, without spending anything. */
  async giveBack(session: WorkerSession, runs: readonly { id: string; fence: number }[]): Promise<void> {
    const { claims, onStopped, onQueued } = this.#options;
    const queued = await claims.giveBack(session.id, runs);
    for (const { id, fence } of runs) {
      const run = session.held.get(id);
      // It may hold the run by a later claim.
      if (run?.fence === fence) session.letGo(run);
    }
    await onStopped(queued.filter((run) => run.isStopped).map((run) => run.id));
    onQueued(queued.filter((run) => !run.isStopped));
  }

  /** The worker has begun these runs, so long ago: their loss would count. */
  async started(session: WorkerSession, runs: readonly StartedRun[]): Promise<void> {
    const fresh = runs.filter(({ runId, fence }) => session.held.get(runId)?.fence === fence);
    if (fresh.length === 0) return;
    const now = this.#options.clock.monotonic();
    for (const { runId, agoMs } of fresh) {
      const run = session.held.get(runId);
      if (run !== undefined) session.begin(run, now - agoMs);
    }
    await this.#options.claims.started(
      session.id,
      fresh.map(({ runId: id, fence, agoMs }) => ({ id, fence, agoMs })),
    );
  }

  /** Which of the named claims the session does not hold. What this node does not know of, it looks up. */
  async notHeld<Run extends ClaimOf>(session: WorkerSession, runs: readonly Run[]): Promise<Run[]> {
    const isUnknown = ({ runId, fence }: ClaimOf): boolean => session.held.get(runId)?.fence !== fence;
    const unknown = runs.filter(isUnknown);
    if (unknown.length === 0) return [];
    const ids = unknown.map((run) => run.runId);
    for (const run of await this.#options.claims.recall(session.id, ids)) session.know(run);
    return unknown.filter(isUnknown);
  }
}
