import { type ClaimedRun, Coalescer } from "@carillon/store";
import type { DispatchContext } from "../dispatch-context.js";
import { endStopped } from "./rescuer.js";
import type { ClaimName, StartedRun } from "./worker-registration.js";
import type { WorkerSession } from "./worker-session.js";

/** Bounds of the sessions that one statement reads. */
const bounds = { maxBatch: 1_000, maxQueued: 20_000 };

/** What workers report about runs that they hold, except results: given back, started, still held. */
export class HeldClaims {
  readonly #context: DispatchContext;
  readonly #held: Coalescer<string, ClaimedRun[]>;

  constructor(context: DispatchContext) {
    this.#context = context;
    this.#held = new Coalescer({
      ...bounds,
      write: async (sessionIds) => {
        const held = new Map<string, ClaimedRun[]>(sessionIds.map((id) => [id, []]));
        for (const run of await context.store.claims.held(sessionIds)) held.get(run.session)?.push(run);
        return sessionIds.map((id) => held.get(id) ?? []);
      },
    });
  }

  /** The runs that a session holds. The statement reads all live runs: concurrent calls, as when a node goes, share one. */
  heldBy(sessionId: string): Promise<readonly ClaimedRun[]> {
    return this.#held.add(sessionId);
  }

  /** Queues runs that were not finished again; no try is spent. */
  async giveBack(session: WorkerSession, runs: readonly { id: string; fence: number }[]): Promise<void> {
    const { store, wakeups } = this.#context;
    const queued = await store.claims.giveBack(session.id, runs);
    for (const { id, fence } of runs) {
      const run = session.held.get(id);
      // The session may hold the run under a later claim.
      if (run?.fence === fence) session.release(run);
    }
    await endStopped(
      this.#context,
      queued.filter((run) => run.isStopped).map((run) => run.id),
    );
    wakeups.runsQueued(queued.filter((run) => !run.isStopped));
  }

  /** The worker started these runs, so long ago: losing it counts as a loss of them. */
  async started(session: WorkerSession, runs: readonly StartedRun[]): Promise<void> {
    const fresh = runs.filter(({ runId, fence }) => session.held.get(runId)?.fence === fence);
    if (fresh.length === 0) return;
    const now = this.#context.clock.monotonic();
    for (const { runId, agoMs } of fresh) {
      const run = session.held.get(runId);
      if (run !== undefined) session.started(run, now - agoMs);
    }
    await this.#context.store.claims.started(
      session.id,
      fresh.map(({ runId: id, fence, agoMs }) => ({ id, fence, agoMs })),
    );
  }

  /** The claims among these that the session does not hold. Claims that this node does not know are read from the database. */
  async notHeld<Run extends ClaimName>(session: WorkerSession, runs: readonly Run[]): Promise<Run[]> {
    const isUnknown = ({ runId, fence }: ClaimName): boolean => session.held.get(runId)?.fence !== fence;
    const unknown = runs.filter(isUnknown);
    if (unknown.length === 0) return [];
    const ids = unknown.map((run) => run.runId);
    for (const run of await this.#context.store.claims.heldAmong(session.id, ids)) session.hold(run);
    return unknown.filter(isUnknown);
  }
}
