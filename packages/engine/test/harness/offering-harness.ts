import { ManualClock } from "@carillon/core";
import {
  HandedArrivals,
  type HandedArrivalsOptions,
  type HandedWord,
} from "../../src/dispatch/direct/direct-arrivals.js";
import { LaneBounds } from "../../src/dispatch/claims/lane-bounds.js";
import { LaneGroup } from "../../src/dispatch/claims/lane-group.js";
import { NamespaceTurns } from "../../src/dispatch/claims/namespace-turns.js";
import { Offering } from "../../src/dispatch/direct/slot-offering.js";
import { type SessionOptions, WorkerSession } from "../../src/dispatch/sessions/worker-session.js";
import type { ClaimedRun, Lane, Offer } from "@carillon/store";

export const lane: Lane = { id: 7, queue: "q", task: "a", kind: "plain", requires: "" };
export const solo: Lane = { ...lane, id: 8, kind: "solo" };

/** Longer than any test: a lane is looked at only when it is hinted. */
const fullLookMs = 3_600_000;
const many = 1_000;

/** Workers of one gateway, what it offers of them, and what becomes of runs that are stored for them. */
export class OfferingHarness {
  readonly clock = new ManualClock(1_000_000);
  isHeld = false;
  readonly bounds = new LaneBounds(fullLookMs, () => (this.isHeld ? "shut" : null));
  readonly #groups: LaneGroup[] = [];
  /** Whose workers are made. */
  group = this.groupOf({ namespaceIds: [1], queues: ["q"], tasks: ["a"], weight: 1 });
  readonly sent: (Offer & { to: string })[] = [];
  /** Runs that are running, by the database. */
  readonly stored = new Map<string, ClaimedRun>();
  /** The runs that were asked for by each read, and the lanes by each look. */
  readonly reads: (readonly string[])[] = [];
  readonly looks: string[] = [];
  /** The answers of the database are on their way for as long as this. */
  answers = Promise.resolve();
  readonly taken: string[] = [];
  readonly givenBack: string[] = [];
  readonly rescued: string[] = [];
  readonly errors: unknown[] = [];
  readonly store: HandedArrivalsOptions["store"] = {
    read: async (sessionId, ids) => {
      this.reads.push(ids);
      const found = ids.flatMap((id) => this.stored.get(id) ?? []).filter((run) => run.session === sessionId);
      await this.answers;
      return found;
    },
    find: async (lanes, sessionIds) => {
      this.looks.push(lanes.map((one) => `lane ${one.lane} of ${one.namespaceId}`).join());
      const found = [...this.stored.values()].filter((run) => sessionIds.includes(run.session));
      const places = found.map(({ id, session: sessionId, namespaceId, lane: of }) => {
        return { id, sessionId, lane: of, namespaceId };
      });
      await this.answers;
      return places.filter((place) => lanes.some((one) => one.lane === place.lane));
    },
  };
  giveBack: HandedArrivalsOptions["giveBack"] = async (session, runs) => {
    for (const run of runs) {
      session.letGo(run);
      this.stored.delete(run.id);
      this.givenBack.push(`${run.id} of ${session.id}`);
    }
  };
  readonly offering: Offering;
  readonly handed: HandedArrivals;
  readonly #sessions = new Map<string, WorkerSession>();
  /** What each was offered last. */
  readonly #tokens = new Map<string, string>();
  #runs = 0;
  #words = 0;
  #ids = 0;

  constructor() {
    this.offering = new Offering({
      gatewayId: "g",
      bounds: this.bounds,
      monotonic: () => this.clock.monotonic(),
      limitsRevision: () => 3,
      newId: () => `token-${++this.#ids}`,
      send: (to, offer) => {
        this.sent.push({ to, ...offer });
        this.#tokens.set(to, offer.token);
      },
    });
    this.handed = new HandedArrivals({
      store: { read: (...of) => this.store.read(...of), find: (...of) => this.store.find(...of) },
      offering: this.offering,
      bounds: this.bounds,
      groups: () => this.#groups,
      sessions: () => this.#sessions.values(),
      find: (id) => this.#sessions.get(id) ?? null,
      monotonic: () => this.clock.monotonic(),
      onTaken: (session, runs) => {
        session.take(runs, () => false);
        this.taken.push(...runs.map(({ id }) => `${id} by ${session.id}`));
      },
      giveBack: (session, runs) => this.giveBack(session, runs),
      rescue: async (runIds) => void this.rescued.push(...runIds),
      onError: (error) => void this.errors.push(error),
    });
  }

  /** Those that serve these lanes and can do this. */
  groupOf(skills: ConstructorParameters<typeof LaneGroup>[0], lanes = [lane, solo]): LaneGroup {
    const agenda = this.bounds.agenda();
    this.bounds.serve(agenda, lanes, 1);
    const group = new LaneGroup(skills, { agenda, turns: new NamespaceTurns(() => 1) });
    this.#groups.push(group);
    this.lookAt(group);
    return group;
  }

  /** A claim of the group takes whatever waits in its lanes, and leaves nothing behind. */
  lookAt(group: LaneGroup): void {
    const now = this.clock.monotonic();
    const { looks } = group.agenda.plan({ places: many, free: many, apart: many }, now, group.turns);
    this.bounds.took(looks, { claimed: [], places: many, free: many, durationMs: 0 }, now);
  }

  worker(id: string, slots: number, over: Partial<SessionOptions> = {}): WorkerSession {
    const nothing = () => undefined;
    const events = { deliver: nothing, onStop: nothing, onLost: nothing, isHeard: () => true, onDrain: nothing };
    const what = { id, namespaceId: 1, slots, ahead: 0, isSteady: true, doubtMs: 30_000 };
    const session = new WorkerSession({ ...what, ...events, ...over });
    session.isWaiting = true;
    this.#sessions.set(id, session);
    this.group.sessions.add(session);
    return session;
  }

  /** It is served here no longer. */
  leave(session: WorkerSession): void {
    this.#sessions.delete(session.id);
    for (const group of this.#groups) group.sessions.delete(session);
  }

  run(over: Partial<ClaimedRun> = {}): ClaimedRun {
    const id = `run-${++this.#runs}`;
    const now = this.clock.now();
    const when = { rank: 0, runAt: now, nominal: now, trigger: "once", deadline: null };
    const claim = { session: "", fence: 1, isStopped: false, isBegun: false, spent: 0, losses: 0 };
    const what = { jobId: id, namespaceId: 1, lane: lane.id, payload: "null", policy: {}, priority: 4 };
    return { id, ...what, ...when, ...claim, ...over };
  }

  /** A run was claimed, and its claim is settled. */
  claim(over: Partial<ClaimedRun> = {}): void {
    this.offering.claimed(this.group, [this.run(over)]);
  }

  /** So many are stored for a session, and nobody is told. */
  storeFor(sessionId: string, count = 1): ClaimedRun[] {
    const runs = Array.from({ length: count }, () => this.run({ session: sessionId }));
    for (const run of runs) this.stored.set(run.id, run);
    return runs;
  }

  /** The next word of runs, by what was offered last to who stored them. */
  word(from: string, runs: readonly ClaimedRun[], over: Partial<HandedWord> = {}): HandedWord {
    const by = { token: this.#tokens.get(from) ?? "none", number: ++this.#words, at: this.clock.now() };
    const place = { sessionId: runs[0]?.session ?? "", lane: lane.id, namespaceId: 1 };
    return { from, ...place, ids: runs.map(({ id }) => id), by, runs, ...over };
  }

  /** Somebody stores so many for a session, and tells of them. Answers their ids. */
  hand(from: string, sessionId: string, count = 1, over: Partial<HandedWord> = {}): string[] {
    const runs = this.storeFor(sessionId, count);
    this.handed.told(this.word(from, runs, over));
    return runs.map(({ id }) => id);
  }

  /** So many of its runs have ended. */
  end(session: WorkerSession, count = session.held.size): void {
    for (const held of [...session.held.values()].slice(0, count)) {
      session.letGo(held);
      this.stored.delete(held.id);
    }
  }

  ask(session: WorkerSession): void {
    session.isAsked = true;
    this.answer(session);
  }

  /** It is answered what it holds: all of it is its worker's then. */
  answer(session: WorkerSession): void {
    session.doubt.answered(this.clock.now());
    const runs = [...this.stored.values()].filter((run) => run.session === session.id);
    session.take(runs, () => false);
    session.isAsked = false;
  }

  /** Answers of the database stay away until the call that this answers. */
  holdAnswers(): () => void {
    let release: () => void = () => undefined;
    this.answers = new Promise((resolve) => (release = resolve));
    return release;
  }

  /** What was offered since the last time. */
  offers(): string[] {
    return this.sent.splice(0).map(({ to, sessionId, count }) => `${to}: ${count} of ${sessionId}`);
  }
}
