import type { DurationMs, Instant } from "@carillon/core";
import { SteadyCost } from "../../loops/steady-cost.js";
import type { ClaimedRun, HandedPlace, HandedRunStore } from "@carillon/store";
import type { LaneBounds } from "../claims/lane-bounds.js";
import type { LaneGroup } from "../claims/lane-group.js";
import type { Offering } from "./slot-offering.js";
import type { WorkerSession } from "../sessions/worker-session.js";

/** Word that runs of a lane were stored for a worker. */
export interface HandedWord {
  /** Who stored them; null: nobody told of them, they were found. */
  readonly from: string | null;
  readonly sessionId: string;
  readonly lane: number;
  readonly namespaceId: number;
  readonly ids: readonly string[];
  /** By which offer, which word of it, and when they were stored; null: by none that counts. */
  readonly by: { readonly token: string; readonly number: number; readonly at: Instant } | null;
  /** The runs themselves; null: they have to be read. */
  readonly runs: readonly ClaimedRun[] | null;
}

export interface HandedArrivalsOptions {
  readonly store: Pick<HandedRunStore, "read" | "find">;
  readonly offering: Pick<Offering, "isFirst" | "used" | "offeredSince">;
  readonly bounds: Pick<LaneBounds, "find">;
  readonly groups: () => Iterable<LaneGroup>;
  readonly sessions: () => Iterable<WorkerSession>;
  readonly find: (sessionId: string) => WorkerSession | null;
  readonly monotonic: () => DurationMs;
  readonly onTaken: (session: WorkerSession, runs: readonly ClaimedRun[]) => void;
  readonly giveBack: (session: WorkerSession, runs: readonly ClaimedRun[]) => Promise<void>;
  /** Of these runs, queues again those whose session is gone. */
  readonly rescue: (runIds: readonly string[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Runs that this process stores for a worker of its own. */
export interface Expected {
  came(runs: readonly ClaimedRun[]): void;
  /** They were not stored, or nobody knows: then a look finds them. */
  failed(): void;
}

const everyMs: DurationMs = 10_000;
/** Lanes are looked at for so long after the last offer: no statement that uses one takes longer. */
const lookBackMs: DurationMs = 60_000;
/** By so much our idea of the database's clock may be wrong. */
const clocksMs: DurationMs = 1_000;
/** Words that wait for the next look; what is dropped is found by a later one. */
const mostLater = 1_000;
/** Looks take at most a twentieth of the time. */
const share = 20;

/**
 * Runs that were stored for workers of this gateway. Word of them is only a hint, as any other: it may be lost, or come late. So the lanes of which
 * something was offered are looked at every few seconds, and whatever may have been brought before is read before it is given to a worker.
 */
export class HandedArrivals {
  readonly #options: HandedArrivalsOptions;
  /** Runs that are read, or stored by this process: until that is answered nobody else brings them. */
  readonly #underWay = new Set<string>();
  /** What could not be done now. */
  #later: HandedWord[] = [];
  /** Runs of workers that left. */
  #strays: (readonly string[])[] = [];
  /** Runs for which there was no room, and that could not be given back yet. Their worker does not know of them. */
  #back: { readonly session: WorkerSession; readonly runs: readonly ClaimedRun[] }[] = [];
  /** Runs that a look found, and when: word of them that comes later is old. */
  readonly #found = new Map<string, DurationMs>();
  readonly #cost = new SteadyCost();
  #nextLookAt: DurationMs = 0;

  constructor(options: HandedArrivalsOptions) {
    this.#options = options;
  }

  /** This process is about to store these for a worker of its own: until that is answered nobody else brings them. */
  expect(word: HandedWord): Expected {
    const session = this.#options.find(word.sessionId);
    // The answer to a question that is under way may bring them.
    const questions = session === null || session.isAsked ? null : session.questions;
    this.#begin(word.ids);
    return {
      came: (runs) => {
        this.#end(word.ids);
        // They are stored: whoever asked for them must not be told otherwise.
        try {
          this.#settle(word, runs, questions);
        } catch (error) {
          this.#options.onError(error);
        }
      },
      failed: () => this.#end(word.ids),
    };
  }

  /** Another process says that it has stored runs. */
  told(word: HandedWord): void {
    const session = this.#options.find(word.sessionId);
    const isNew = session !== null && this.#isNew(session, word);
    if (isNew && word.runs !== null) this.#give(session, word, word.runs);
    else void this.#bring(word);
  }

  /** Word of runs may have been missed. */
  missed(): void {
    this.#nextLookAt = 0;
    this.look().catch(this.#options.onError);
  }

  /** A session's row is gone: what came for it since it left can be queued again. */
  async left(): Promise<void> {
    for (const ids of this.#strays.splice(0)) await this.#rescue(ids);
  }

  /** What was left to do, and now and then a look for runs that no word told of. */
  async look(): Promise<void> {
    await this.left();
    const back = this.#back.splice(0);
    const later = this.#later.splice(0);
    for (const { session, runs } of back) await this.#giveBack(session, runs);
    for (const word of later) await this.#bring(word);
    if (this.#options.monotonic() >= this.#nextLookAt) await this.#lookForUntold();
  }

  async #lookForUntold(): Promise<void> {
    const { store, offering, monotonic } = this.#options;
    const startedAt = monotonic();
    const lanes = offering.offeredSince(startedAt - lookBackMs);
    const sessions = [...this.#options.sessions()].filter((session) => session.isSteady);
    if (lanes.length === 0 || sessions.length === 0) return;
    this.#nextLookAt = startedAt + everyMs;
    const found = await store.find(
      lanes,
      sessions.map((session) => session.id),
    );
    const tookMs = this.#cost.after(monotonic() - startedAt);
    this.#nextLookAt = Math.max(this.#nextLookAt, monotonic() + tookMs * share);
    for (const [id, at] of this.#found) if (at < startedAt - everyMs) this.#found.delete(id);
    for (const { id } of found) this.#found.set(id, startedAt);
    for (const word of wordsOf(found)) await this.#bring(word);
  }

  /**
   * Nobody can have brought these before: no other word of the same offer, no look, no answer to what the session holds. Otherwise they are
   * read, since they may have ended.
   */
  #isNew(session: WorkerSession, { from, by, ids, ...place }: HandedWord): boolean {
    if (from === null || by === null) return false;
    // Asked first: whatever becomes of this word, nobody can say it again.
    if (!this.#options.offering.isFirst({ ...place, from }, by.token, by.number)) return false;
    if (session.isAsked || session.doubt.answeredAt >= by.at - clocksMs) return false;
    return !ids.some((id) => this.#found.has(id));
  }

  /** Read first: whatever was said, only what a session holds by the database is given to its worker. */
  async #bring(word: HandedWord): Promise<void> {
    const { store, find, onError } = this.#options;
    const session = find(word.sessionId);
    if (session === null) return this.#stray(word.ids);
    const ids = word.ids.filter((id) => !this.#underWay.has(id) && !session.held.has(id));
    if (ids.length === 0) return;
    if (session.isAsked) return this.#wait(word);
    const { questions } = session;
    this.#begin(ids);
    try {
      const runs = await store.read(session.id, ids);
      this.#end(ids);
      this.#settle(word, runs, questions);
    } catch (error) {
      this.#end(ids);
      this.#wait(word);
      onError(error);
    }
  }

  /** Whoever was asked for all that it holds has these by that answer, and may have ended them since: they are read again. */
  #settle(word: HandedWord, runs: readonly ClaimedRun[], questions: number | null): void {
    const session = this.#options.find(word.sessionId);
    if (session === null) return void this.#stray(word.ids);
    if (session.isAsked || session.questions !== questions) this.#wait(word);
    else this.#give(session, word, runs);
  }

  #wait(word: HandedWord): void {
    if (this.#later.length < mostLater) this.#later.push(word);
  }

  /** The worker left: its row may still be there for a moment, so they are looked at once more. */
  async #stray(ids: readonly string[]): Promise<void> {
    if (this.#strays.length < mostLater) this.#strays.push(ids);
    await this.#rescue(ids);
  }

  async #rescue(ids: readonly string[]): Promise<void> {
    await this.#options.rescue(ids).catch(this.#options.onError);
  }

  #begin(ids: readonly string[]): void {
    for (const id of ids) this.#underWay.add(id);
  }

  #end(ids: readonly string[]): void {
    for (const id of ids) this.#underWay.delete(id);
  }

  #give(session: WorkerSession, word: HandedWord, runs: readonly ClaimedRun[]): void {
    const { offering, onTaken } = this.#options;
    const { from } = word;
    const room = this.#roomFor(session, word);
    const taken = runs.slice(0, room);
    const tooMany = runs.slice(room);
    onTaken(session, taken);
    if (from !== null) offering.used({ ...word, from }, runs.length, tooMany.length > 0);
    // Until they are given back they are its own: whoever asks what it holds must not take them for new.
    for (const run of tooMany) session.know(run);
    if (tooMany.length > 0) void this.#giveBack(session, tooMany);
  }

  async #giveBack(session: WorkerSession, runs: readonly ClaimedRun[]): Promise<void> {
    try {
      await this.#options.giveBack(session, runs);
    } catch (error) {
      this.#back.push({ session, runs });
      this.#options.onError(error);
    }
  }

  /**
   * Only slots in which nobody works: a run must not wait behind another while somebody else could begin it. Claims that are under way count for
   * nothing: where offers are out they find nothing as a rule, and there is one for all slots every second.
   */
  #roomFor(session: WorkerSession, { lane, namespaceId }: HandedWord): number {
    const { bounds, groups } = this.#options;
    const spot = bounds.find(lane, namespaceId);
    if (spot === null || spot.isHeld) return 0;
    for (const group of groups())
      if (group.sessions.has(session) && spot.watchers.has(group.agenda)) return session.unusedFor(group);
    return 0;
  }
}

/** One for each lane of each session. */
function wordsOf(found: readonly HandedPlace[]): HandedWord[] {
  const words = new Map<string, HandedWord & { readonly ids: string[] }>();
  for (const { id, sessionId, lane, namespaceId } of found) {
    const key = `${sessionId} ${lane} ${namespaceId}`;
    const word = words.get(key);
    if (word === undefined)
      words.set(key, { from: null, sessionId, lane, namespaceId, ids: [id], by: null, runs: null });
    else word.ids.push(id);
  }
  return [...words.values()];
}
