import { ManualClock } from "@carillon/core";
import type { ClaimedRun, Lane, SlotOffer } from "@carillon/store";
import { LaneCursors } from "../../src/dispatch/claims/lane-cursors.js";
import { LaneGroup } from "../../src/dispatch/claims/lane-groups.js";
import { LaneScanQueue } from "../../src/dispatch/claims/lane-scan-queue.js";
import { NamespaceTurns } from "../../src/dispatch/claims/namespace-turns.js";
import {
  DirectArrivals,
  type DirectArrivalsOptions,
  type DirectNotice,
} from "../../src/dispatch/direct/direct-arrivals.js";
import { SlotOfferer } from "../../src/dispatch/direct/slot-offerer.js";
import { type SessionOptions, WorkerSession } from "../../src/dispatch/sessions/worker-session.js";

export const lane: Lane = { id: 7, queue: "q", task: "a", kind: "plain", requires: "" };
export const solo: Lane = { ...lane, id: 8, kind: "solo" };

/** Longer than any test: a lane is scanned only when it is hinted. */
const fullScanIntervalMs = 3_600_000;
const many = 1_000;

/** Workers of one gateway, the offers of their slots, and the runs that are stored for them. */
export class SlotOfferHarness {
  readonly clock = new ManualClock(1_000_000);
  isHeld = false;
  readonly cursors = new LaneCursors(fullScanIntervalMs, () => (this.isHeld ? "shut" : null));
  readonly #groups: LaneGroup[] = [];
  /** The group that new workers join. */
  group = this.groupOf({ namespaceIds: [1], queues: ["q"], tasks: ["a"], weight: 1 });
  readonly sent: (SlotOffer & { to: string })[] = [];
  /** Runs that are running, by the database. */
  readonly stored = new Map<string, ClaimedRun>();
  /** The ids of each read, and the lanes of each scan for runs without a notice. */
  readonly reads: (readonly string[])[] = [];
  readonly finds: string[] = [];
  /** The database answers when this resolves. */
  answers = Promise.resolve();
  readonly assigned: string[] = [];
  readonly givenBack: string[] = [];
  readonly rescued: string[] = [];
  readonly errors: unknown[] = [];
  readonly store: DirectArrivalsOptions["store"] = {
    read: async (sessionId, ids) => {
      this.reads.push(ids);
      const found = ids.flatMap((id) => this.stored.get(id) ?? []).filter((run) => run.session === sessionId);
      await this.answers;
      return found;
    },
    find: async (lanes, sessionIds) => {
      this.finds.push(lanes.map((one) => `lane ${one.lane} of ${one.namespaceId}`).join());
      const found = [...this.stored.values()].filter((run) => sessionIds.includes(run.session));
      const places = found.map(({ id, session: sessionId, namespaceId, lane: of }) => {
        return { id, sessionId, lane: of, namespaceId };
      });
      await this.answers;
      return places.filter((place) => lanes.some((one) => one.lane === place.lane));
    },
  };
  giveBack: DirectArrivalsOptions["giveBack"] = async (session, runs) => {
    for (const run of runs) {
      session.release(run);
      this.stored.delete(run.id);
      this.givenBack.push(`${run.id} of ${session.id}`);
    }
  };
  readonly offerer: SlotOfferer;
  readonly arrivals: DirectArrivals;
  readonly #sessions = new Map<string, WorkerSession>();
  /** The token of the last offer to each node. */
  readonly #tokens = new Map<string, string>();
  #runs = 0;
  #uses = 0;
  #ids = 0;

  constructor() {
    this.offerer = new SlotOfferer({
      gatewayId: "g",
      cursors: this.cursors,
      monotonic: () => this.clock.monotonic(),
      limitsRevision: () => 3,
      newId: () => `token-${++this.#ids}`,
      sendOffer: (to, offer) => {
        this.sent.push({ to, ...offer });
        this.#tokens.set(to, offer.token);
      },
    });
    this.arrivals = new DirectArrivals({
      store: { read: (...of) => this.store.read(...of), find: (...of) => this.store.find(...of) },
      offerer: this.offerer,
      cursors: this.cursors,
      groups: () => this.#groups,
      sessions: { values: () => this.#sessions.values(), find: (id) => this.#sessions.get(id) ?? null },
      monotonic: () => this.clock.monotonic(),
      assign: (sessions, runs) => {
        for (const session of sessions) {
          session.assign(runs, () => false);
          this.assigned.push(...runs.map(({ id }) => `${id} by ${session.id}`));
        }
      },
      giveBack: (session, runs) => this.giveBack(session, runs),
      rescue: async (runIds) => void this.rescued.push(...runIds),
      onError: (error) => void this.errors.push(error),
    });
  }

  /** A group of workers with these skills that serve these lanes. */
  groupOf(skills: ConstructorParameters<typeof LaneGroup>[0], lanes = [lane, solo]): LaneGroup {
    const scans = new LaneScanQueue(fullScanIntervalMs);
    this.cursors.serve(scans, lanes, 1);
    const group = new LaneGroup(skills, { scans, turns: new NamespaceTurns(() => 1) });
    this.#groups.push(group);
    this.scan(group);
    return group;
  }

  /** A claim of the group claims all runs that wait in its lanes. */
  scan(group: LaneGroup): void {
    const now = this.clock.monotonic();
    const { scans } = group.scans.plan({ slots: many, free: many, forLostRuns: many }, now, group.turns);
    this.cursors.settle(scans, { claimed: [], slots: many, free: many, durationMs: 0 }, now);
  }

  worker(id: string, slots: number, over: Partial<SessionOptions> = {}): WorkerSession {
    const nothing = () => undefined;
    const events = { deliver: nothing, onStop: nothing, onLost: nothing, isConnected: () => true, onDrain: nothing };
    const what = { id, namespaceId: 1, slots, ahead: 0, isInProcess: true, unconfirmedMs: 30_000 };
    const session = new WorkerSession({ ...what, ...events, ...over });
    session.isWaiting = true;
    this.#sessions.set(id, session);
    this.group.sessions.add(session);
    return session;
  }

  /** The gateway no longer serves it. */
  leave(session: WorkerSession): void {
    this.#sessions.delete(session.id);
    for (const group of this.#groups) group.sessions.delete(session);
  }

  run(over: Partial<ClaimedRun> = {}): ClaimedRun {
    const id = `run-${++this.#runs}`;
    const now = this.clock.now();
    const when = { rank: 0, runAt: now, nominal: now, trigger: "once", deadline: null };
    const claim = { session: "", fence: 1, isStopped: false, isStarted: false, spent: 0, losses: 0 };
    const what = { jobId: id, namespaceId: 1, lane: lane.id, payload: "null", policy: {}, priority: 4 };
    return { id, ...what, ...when, ...claim, ...over };
  }

  /** A run was claimed, and its claim has ended. */
  claim(over: Partial<ClaimedRun> = {}): void {
    this.offerer.claimed(this.group, [this.run(over)]);
  }

  /** Stores so many runs for a session, without a notice. */
  storeFor(sessionId: string, count = 1): ClaimedRun[] {
    const runs = Array.from({ length: count }, () => this.run({ session: sessionId }));
    for (const run of runs) this.stored.set(run.id, run);
    return runs;
  }

  /** The next notice of runs, by the last offer to the node that stored them. */
  notice(from: string, runs: readonly ClaimedRun[], over: Partial<DirectNotice> = {}): DirectNotice {
    const use = { token: this.#tokens.get(from) ?? "none", number: ++this.#uses, at: this.clock.now() };
    const place = { sessionId: runs[0]?.session ?? "", lane: lane.id, namespaceId: 1 };
    return { from, ...place, ids: runs.map(({ id }) => id), use, runs, ...over };
  }

  /** A node stores so many runs for a session, and its notice arrives. Returns their ids. */
  deliver(from: string, sessionId: string, count = 1, over: Partial<DirectNotice> = {}): string[] {
    const runs = this.storeFor(sessionId, count);
    this.arrivals.receive(this.notice(from, runs, over));
    return runs.map(({ id }) => id);
  }

  /** So many of its runs have ended. */
  end(session: WorkerSession, count = session.held.size): void {
    for (const held of [...session.held.values()].slice(0, count)) {
      session.release(held);
      this.stored.delete(held.id);
    }
  }

  verify(session: WorkerSession): void {
    session.isBeingVerified = true;
    this.finishVerification(session);
  }

  /** The database answers which runs the session holds: its worker gets them all. */
  finishVerification(session: WorkerSession): void {
    session.unconfirmed.checked(this.clock.now());
    const runs = [...this.stored.values()].filter((run) => run.session === session.id);
    session.assign(runs, () => false);
    session.isBeingVerified = false;
  }

  /** The database answers when the returned function is called. */
  holdAnswers(): () => void {
    let release: () => void = () => undefined;
    this.answers = new Promise((resolve) => (release = resolve));
    return release;
  }

  /** The offers since the last call. */
  offers(): string[] {
    return this.sent.splice(0).map(({ to, sessionId, count }) => `${to}: ${count} of ${sessionId}`);
  }
}
