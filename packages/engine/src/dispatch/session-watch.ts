import { type Clock, type DurationMs, type Instant, timeoutOf, timeoutOutcome } from "@carillon/core";
import type { ClaimedRun, ClaimStore, LaneStore } from "@carillon/store";
import type { Handout } from "./run-assigner.js";
import type { Results } from "./results/results.js";
import type { WorkerSession } from "./sessions/worker-session.js";

export interface SessionWatchOptions {
  readonly claims: Pick<ClaimStore, "held" | "recall">;
  readonly results: Pick<Results, "take">;
  readonly handout: Pick<Handout, "give">;
  readonly lanes: Pick<LaneStore, "get">;
  readonly giveBack: (session: WorkerSession, runs: readonly ClaimedRun[]) => Promise<void>;
  readonly sessions: () => Iterable<WorkerSession>;
  /** A session that was asked takes runs again. */
  readonly onRoom: () => void;
  readonly onError: (error: unknown) => void;
  readonly clock: Pick<Clock, "monotonic">;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** The worker ends an attempt in time; the server does it when so much more has passed. */
const graceMs: DurationMs = 10_000;
/** No statement of another node takes longer. */
const settledMs: DurationMs = 20_000;

/** Looks now and then after what no answer and no result settles: claims in doubt, attempts and runs that never end. */
export class SessionWatch {
  readonly #options: SessionWatchOptions;

  constructor(options: SessionWatchOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    await this.#settleDoubts();
    for (const session of this.#options.sessions()) {
      await this.#letGoOfEnded(session);
      await this.#takeBack(session);
      await this.#endOverdue(session);
      await this.#stopExpired(session);
    }
  }

  /** What the node before ended while this one took the session over would take up slots here for ever. */
  async #letGoOfEnded(session: WorkerSession): Promise<void> {
    const { clock, claims } = this.#options;
    const { takenOver } = session;
    if (takenOver === null || clock.monotonic() < takenOver.at + settledMs) return;
    const runs = takenOver.runs.filter((run) => session.held.get(run.id) === run);
    const ids = runs.map((run) => run.id);
    const live = new Set(ids.length === 0 ? [] : (await claims.recall(session.id, ids)).map((run) => run.id));
    for (const run of runs) if (!live.has(run.id)) session.letGo(run);
    session.takenOver = null;
  }

  /** At its deadline a run is asked to stop; if its worker does not end it, the server does after a grace time. */
  async #stopExpired(session: WorkerSession): Promise<void> {
    const now = this.#options.now();
    const expired = session.expired(now);
    if (expired.length === 0) return;
    session.events.onStop(expired.map(({ id: runId, fence }) => ({ runId, fence, reason: "expired" })));
    const stuck = expired.filter(({ deadline }) => deadline !== null && now >= deadline + graceMs);
    if (stuck.length === 0) return;
    const outcome = { kind: "cancelled", error: null } as const;
    await this.#options.results.take(
      session,
      stuck.map(({ id: runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome })),
    );
  }

  /** A worker that lives and never says that it began a run: others get it, with nothing spent. */
  async #takeBack(session: WorkerSession): Promise<void> {
    const { clock, giveBack } = this.#options;
    const runs = session.unbegun(clock.monotonic(), graceMs, this.#isBegun);
    if (runs.length === 0) return;
    await giveBack(session, runs);
    session.events.onStop(runs.map(({ id: runId, fence }) => ({ runId, fence, reason: "not_started" })));
  }

  /** Whatever is not given ahead is begun with its claim. */
  readonly #isBegun = ({ isBegun, lane }: ClaimedRun): boolean =>
    isBegun || (this.#options.lanes.get(lane)?.kind ?? "plain") !== "plain";

  /** A worker that lives but does not end its run in time: the attempt is over, and whatever it still brings is refused. */
  async #endOverdue(session: WorkerSession): Promise<void> {
    const now = this.#options.clock.monotonic();
    const overdue = session.overdue(now, graceMs);
    if (overdue.length === 0) return;
    await this.#options.results.take(
      session,
      overdue.map(([{ id: runId, fence, policy }, begunAt]) => {
        return { runId, fence, startedAgoMs: now - begunAt, outcome: timeoutOutcome(timeoutOf(policy) ?? 0) };
      }),
    );
    session.events.onStop(overdue.map(([{ id: runId, fence }]) => ({ runId, fence, reason: "timeout" })));
  }

  /** What sessions hold by claims whose answer never came. A session that is asked gets nothing meanwhile. */
  async #settleDoubts(): Promise<void> {
    const { sessions, now, onError } = this.#options;
    const at = now();
    const doubted = [...sessions()].filter((session) => session.doubt.isToAsk(at) && !session.isAsked);
    for (const session of doubted) if (session.promised > 0) this.#askWhenQuiet(session).catch(onError);
    await this.#ask(doubted.filter((session) => session.promised === 0));
  }

  /** Under load some claim for it is always under way: it gets nothing more until these are answered, and it is asked. */
  async #askWhenQuiet(session: WorkerSession): Promise<void> {
    session.isAsked = true;
    await session.quiet();
    await this.#ask([session]);
    this.#options.onRoom();
  }

  async #ask(asked: readonly WorkerSession[]): Promise<void> {
    if (asked.length === 0) return;
    const { claims, handout, now } = this.#options;
    const known = new Map(asked.map((session) => [session.id, new Set(session.held.keys())]));
    for (const session of asked) session.isAsked = true;
    try {
      const held = await claims.held(asked.map((session) => session.id));
      for (const session of asked) session.doubt.answered(now());
      // What ended while we asked was known before.
      handout.give(
        asked,
        held.filter((run) => known.get(run.session)?.has(run.id) === false),
      );
    } finally {
      for (const session of asked) session.isAsked = false;
    }
  }
}
