import { type DurationMs, type StopOrder, timeoutOf, timeoutOutcome } from "@carillon/core";
import type { ClaimedRun, ClaimStore } from "@carillon/store";
import type { DispatchContext } from "../dispatch-context.js";
import type { Results } from "../results/results.js";
import type { HeldClaims } from "./held-claims.js";
import type { RunAssigner } from "./run-assigner.js";
import type { WorkerSession } from "./worker-session.js";

export interface SessionMonitorDeps {
  readonly results: Pick<Results, "take">;
  readonly assigner: Pick<RunAssigner, "assign">;
  readonly claims: Pick<HeldClaims, "giveBack">;
  readonly sessions: () => Iterable<WorkerSession>;
  /** A session that was verified takes runs again. */
  readonly wakeClaims: () => void;
}

/** The worker ends an attempt in time; the server does it when so much more has passed. */
const graceMs: DurationMs = 10_000;
/** No statement of another node takes longer. */
const takeOverMs: DurationMs = 20_000;

/** Finds what neither an answer nor a result resolves: unconfirmed claims, and attempts and runs that never end. */
export class SessionMonitor {
  readonly #context: DispatchContext;
  readonly #deps: SessionMonitorDeps;

  constructor(context: DispatchContext, deps: SessionMonitorDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async scan(): Promise<void> {
    await this.#verifyUnconfirmed();
    for (const session of this.#deps.sessions()) {
      await this.#releaseEnded(session);
      await this.#giveBackUnstarted(session);
      await this.#endOverdue(session);
      await this.#stopExpired(session);
    }
  }

  /** Runs that the node before ended while this one took the session over would occupy slots here for ever. */
  async #releaseEnded(session: WorkerSession): Promise<void> {
    const { clock, store } = this.#context;
    const { takenOver } = session;
    if (takenOver === null || clock.monotonic() < takenOver.at + takeOverMs) return;
    const runs = takenOver.runs.filter((run) => session.held.get(run.id) === run);
    const ids = runs.map((run) => run.id);
    const live = new Set(ids.length === 0 ? [] : (await store.claims.heldAmong(session.id, ids)).map((run) => run.id));
    for (const run of runs) if (!live.has(run.id)) session.release(run);
    session.takenOver = null;
  }

  /** At its deadline a run is ordered to stop; if its worker does not end it, the server does after the grace time. */
  async #stopExpired(session: WorkerSession): Promise<void> {
    const now = this.#context.now();
    const expired = session.expired(now);
    if (expired.length === 0) return;
    session.events.onStop(expired.map(({ id: runId, fence }) => ({ runId, fence, reason: "expired" })));
    const stuck = expired.filter(({ deadline }) => deadline !== null && now >= deadline + graceMs);
    if (stuck.length === 0) return;
    const outcome = { kind: "cancelled", error: null } as const;
    await this.#deps.results.take(
      session,
      stuck.map(({ id: runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome })),
    );
  }

  /** A worker lives and never reports that it started a run: the run is queued for other workers, with no try spent. */
  async #giveBackUnstarted(session: WorkerSession): Promise<void> {
    const runs = session.unstarted(this.#context.clock.monotonic(), graceMs, this.#isStarted);
    if (runs.length === 0) return;
    await this.#deps.claims.giveBack(session, runs);
    session.events.onStop(runs.map(({ id: runId, fence }) => ({ runId, fence, reason: "not_started" })));
  }

  /** Runs that may not wait at a worker are started with their claim. */
  readonly #isStarted = ({ isStarted, lane }: ClaimedRun): boolean =>
    isStarted || (this.#context.store.lanes.get(lane)?.kind ?? "plain") !== "plain";

  /** A worker lives and does not end its run in time: the attempt is over, and a later result of it is refused. */
  async #endOverdue(session: WorkerSession): Promise<void> {
    const now = this.#context.clock.monotonic();
    const overdue = session.overdue(now, graceMs);
    if (overdue.length === 0) return;
    await this.#deps.results.take(
      session,
      overdue.map(([{ id: runId, fence, policy }, startedAt]) => {
        return { runId, fence, startedAgoMs: now - startedAt, outcome: timeoutOutcome(timeoutOf(policy) ?? 0) };
      }),
    );
    session.events.onStop(overdue.map(([{ id: runId, fence }]) => ({ runId, fence, reason: "timeout" })));
  }

  /** Reads which runs sessions hold by claims that were never answered. Meanwhile such a session is assigned nothing. */
  async #verifyUnconfirmed(): Promise<void> {
    const { now, loopFailed } = this.#context;
    const at = now();
    const due = [...this.#deps.sessions()].filter(
      (session) => session.unconfirmed.isCheckDue(at) && !session.isBeingVerified,
    );
    for (const session of due)
      if (session.claimingSlots > 0)
        this.#verifyAfterClaims(session).catch((error: unknown) => loopFailed("gateway", error));
    await this.#verify(due.filter((session) => session.claimingSlots === 0));
  }

  /** Under load some claim for it is always under way: no more begin, and it is verified when those have ended. */
  async #verifyAfterClaims(session: WorkerSession): Promise<void> {
    session.isBeingVerified = true;
    await session.untilNoClaims();
    await this.#verify([session]);
    this.#deps.wakeClaims();
  }

  async #verify(sessions: readonly WorkerSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const { store, now } = this.#context;
    const known = new Map(sessions.map((session) => [session.id, new Set(session.held.keys())]));
    for (const session of sessions) session.isBeingVerified = true;
    try {
      const held = await store.claims.held(sessions.map((session) => session.id));
      for (const session of sessions) session.unconfirmed.checked(now());
      // Runs that ended during the statement were known before it.
      this.#deps.assigner.assign(
        sessions,
        held.filter((run) => known.get(run.session)?.has(run.id) === false),
      );
    } finally {
      for (const session of sessions) session.isBeingVerified = false;
    }
  }
}

/** A session whose worker can be ordered to stop runs. */
export interface StoppableSession {
  readonly held: ReadonlyMap<string, ClaimedRun>;
  readonly events: { readonly onStop: (orders: readonly StopOrder[]) => void };
}

/** Orders workers to stop runs that were cancelled, at every scan: a worker that has the order already ignores it. */
export class StopOrders {
  readonly #claims: Pick<ClaimStore, "stops">;
  readonly #sessions: () => Iterable<StoppableSession>;
  #scanning: Promise<void> | null = null;
  #isRequested = false;

  constructor(claims: Pick<ClaimStore, "stops">, sessions: () => Iterable<StoppableSession>) {
    this.#claims = claims;
    this.#sessions = sessions;
  }

  /** Runs may have been cancelled: scans now, or once more if a scan is under way. */
  async scan(): Promise<void> {
    this.#isRequested = true;
    this.#scanning ??= this.#scanWhileRequested().finally(() => (this.#scanning = null));
    await this.#scanning;
  }

  async #scanWhileRequested(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      const sessions = [...this.#sessions()];
      const stops = await this.#claims.stops(sessions.flatMap((session) => [...session.held.keys()]));
      if (stops.length === 0) continue;
      for (const session of sessions) orderStops(session, stops);
    }
  }
}

function orderStops({ held, events }: StoppableSession, stops: Awaited<ReturnType<ClaimStore["stops"]>>): void {
  const orders = stops
    .filter(({ id, fence }) => held.get(id)?.fence === fence)
    .map(({ id: runId, fence, reason }) => ({ runId, fence, reason }));
  if (orders.length > 0) events.onStop(orders);
}
