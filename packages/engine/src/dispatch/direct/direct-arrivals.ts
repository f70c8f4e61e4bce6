import type { DurationMs, Instant } from "@carillon/core";
import type { ClaimedRun, DirectRunPlace, DirectRunStore } from "@carillon/store";
import { SteadyCost } from "../../loops/loops.js";
import type { LaneCursors } from "../claims/lane-cursors.js";
import type { LaneGroup } from "../claims/lane-groups.js";
import type { WorkerSession } from "../sessions/worker-session.js";
import type { SlotOfferer } from "./slot-offerer.js";

/** Runs of a lane were stored for a worker. */
export interface DirectNotice {
  /** The node that stored them; null: a scan found them. */
  readonly from: string | null;
  readonly sessionId: string;
  readonly lane: number;
  readonly namespaceId: number;
  readonly ids: readonly string[];
  /** The offer that was used, the number of the use, and when the runs were stored; null: no offer that counts. */
  readonly use: { readonly token: string; readonly number: number; readonly at: Instant } | null;
  /** The runs themselves; null: they have to be read. */
  readonly runs: readonly ClaimedRun[] | null;
}

export interface DirectArrivalsOptions {
  readonly store: Pick<DirectRunStore, "read" | "find">;
  readonly offerer: Pick<SlotOfferer, "isFirstUse" | "offeredSince" | "used">;
  readonly cursors: Pick<LaneCursors, "find">;
  readonly groups: () => Iterable<LaneGroup>;
  readonly sessions: {
    values(): Iterable<WorkerSession>;
    find(sessionId: string): WorkerSession | null;
  };
  readonly monotonic: () => DurationMs;
  readonly assign: (sessions: readonly WorkerSession[], runs: readonly ClaimedRun[]) => void;
  readonly giveBack: (session: WorkerSession, runs: readonly ClaimedRun[]) => Promise<void>;
  /** Of these runs, queues those again whose session is gone. */
  readonly rescue: (runIds: readonly string[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Runs that this process stores for a worker of its own. */
export interface Expected {
  stored(runs: readonly ClaimedRun[]): void;
  /** They were not stored, or the answer was lost: then a scan finds them. */
  failed(): void;
}

const scanEveryMs: DurationMs = 10_000;
/** Lanes are scanned for so long after the last offer: no statement that uses one takes longer. */
const lookBackMs: DurationMs = 60_000;
/** This node's estimate of the database's clock may be off by so much. */
const clockErrorMs: DurationMs = 1_000;
/** Notices that wait for the next pass; runs of those that are dropped are found by a later scan. */
const maxPostponed = 1_000;
/** Scans take at most a twentieth of the time. */
const share = 20;

/**
 * Runs that were stored for workers of this gateway. A notice of them is only a hint, as any other: it may be lost or late. So the lanes of
 * which slots were offered are scanned every few seconds, and runs that may have been assigned before are read before they are assigned.
 */
export class DirectArrivals {
  readonly #options: DirectArrivalsOptions;
  /** Runs that are being read, or stored by this process: until the answer, no other notice of them is followed. */
  readonly #underWay = new Set<string>();
  /** Notices that could not be followed yet. */
  #postponed: DirectNotice[] = [];
  /** Runs of workers that left. */
  #strays: (readonly string[])[] = [];
  /** Runs for which there was no room, and that could not be given back yet. Their worker does not know of them. */
  #back: { readonly session: WorkerSession; readonly runs: readonly ClaimedRun[] }[] = [];
  /** Runs that a scan found, and when: a later notice of them is old. */
  readonly #found = new Map<string, DurationMs>();
  readonly #cost = new SteadyCost();
  #nextScanAt: DurationMs = 0;

  constructor(options: DirectArrivalsOptions) {
    this.#options = options;
  }

  /** This process is about to store these runs for a worker of its own: until the answer, no other notice of them is followed. */
  expect(notice: DirectNotice): Expected {
    const session = this.#options.sessions.find(notice.sessionId);
    // A verification that is under way may bring them.
    const verifications = session === null || session.isBeingVerified ? null : session.verifications;
    this.#begin(notice.ids);
    return {
      stored: (runs) => {
        this.#end(notice.ids);
        // They are stored: the caller that enqueued them must not get an error.
        try {
          this.#follow(notice, runs, verifications);
        } catch (error) {
          this.#options.onError(error);
        }
      },
      failed: () => this.#end(notice.ids),
    };
  }

  /** Another process has stored runs. */
  receive(notice: DirectNotice): void {
    const session = this.#options.sessions.find(notice.sessionId);
    const isNew = session !== null && this.#isNew(session, notice);
    if (isNew && notice.runs !== null) this.#assign(session, notice, notice.runs);
    else void this.#read(notice);
  }

  noticesMissed(): void {
    this.#nextScanAt = 0;
    this.scan().catch(this.#options.onError);
  }

  /** A session's row is gone: runs that were stored for it since it left can be queued again. */
  async sessionClosed(): Promise<void> {
    for (const ids of this.#strays.splice(0)) await this.#rescue(ids);
  }

  /** Follows postponed notices, and now and then scans for runs without a notice. */
  async scan(): Promise<void> {
    await this.sessionClosed();
    const back = this.#back.splice(0);
    const postponed = this.#postponed.splice(0);
    for (const { session, runs } of back) await this.#giveBack(session, runs);
    for (const notice of postponed) await this.#read(notice);
    if (this.#options.monotonic() >= this.#nextScanAt) await this.#findUnnoticed();
  }

  async #findUnnoticed(): Promise<void> {
    const { store, offerer, monotonic } = this.#options;
    const startedAt = monotonic();
    const lanes = offerer.offeredSince(startedAt - lookBackMs);
    const sessions = [...this.#options.sessions.values()].filter((session) => session.isInProcess);
    if (lanes.length === 0 || sessions.length === 0) return;
    this.#nextScanAt = startedAt + scanEveryMs;
    const found = await store.find(
      lanes,
      sessions.map((session) => session.id),
    );
    const tookMs = this.#cost.after(monotonic() - startedAt);
    this.#nextScanAt = Math.max(this.#nextScanAt, monotonic() + tookMs * share);
    for (const [id, at] of this.#found) if (at < startedAt - scanEveryMs) this.#found.delete(id);
    for (const { id } of found) this.#found.set(id, startedAt);
    for (const notice of noticesFor(found)) await this.#read(notice);
  }

  /**
   * Nothing can have assigned these runs before: no other notice of the same use, no scan, no verification of the session. Otherwise they
   * are read, because they may have ended.
   */
  #isNew(session: WorkerSession, { from, use, ids, ...place }: DirectNotice): boolean {
    if (from === null || use === null) return false;
    // Checked first: however this notice is followed, no notice may repeat it.
    if (!this.#options.offerer.isFirstUse({ ...place, from }, use.token, use.number)) return false;
    if (session.isBeingVerified || session.unconfirmed.checkedAt >= use.at - clockErrorMs) return false;
    return !ids.some((id) => this.#found.has(id));
  }

  /** Reads the runs first: only runs that the session holds by the database are assigned to its worker. */
  async #read(notice: DirectNotice): Promise<void> {
    const { store, sessions, onError } = this.#options;
    const session = sessions.find(notice.sessionId);
    if (session === null) return this.#stray(notice.ids);
    const ids = notice.ids.filter((id) => !this.#underWay.has(id) && !session.held.has(id));
    if (ids.length === 0) return;
    if (session.isBeingVerified) return this.#postpone(notice);
    const { verifications } = session;
    this.#begin(ids);
    try {
      const runs = await store.read(session.id, ids);
      this.#end(ids);
      this.#follow(notice, runs, verifications);
    } catch (error) {
      this.#end(ids);
      this.#postpone(notice);
      onError(error);
    }
  }

  /** A session that was verified meanwhile got these runs by that answer, and may have ended them since: they are read again. */
  #follow(notice: DirectNotice, runs: readonly ClaimedRun[], verifications: number | null): void {
    const session = this.#options.sessions.find(notice.sessionId);
    if (session === null) return void this.#stray(notice.ids);
    if (session.isBeingVerified || session.verifications !== verifications) this.#postpone(notice);
    else this.#assign(session, notice, runs);
  }

  #postpone(notice: DirectNotice): void {
    if (this.#postponed.length < maxPostponed) this.#postponed.push(notice);
  }

  /** The worker left: its row may still exist for a moment, so the rescue is repeated once. */
  async #stray(ids: readonly string[]): Promise<void> {
    if (this.#strays.length < maxPostponed) this.#strays.push(ids);
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

  #assign(session: WorkerSession, notice: DirectNotice, runs: readonly ClaimedRun[]): void {
    const { offerer, assign } = this.#options;
    const { from } = notice;
    const room = this.#roomFor(session, notice);
    const tooMany = runs.slice(room);
    assign([session], runs.slice(0, room));
    if (from !== null) offerer.used({ ...notice, from }, runs.length, tooMany.length > 0);
    // The session holds them until they are given back: a verification must not take them for new.
    for (const run of tooMany) session.hold(run);
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
   * Only slots without a run: a run must not wait behind another while another worker could start it. Claims under way do not count: where
   * offers are open they find nothing as a rule, and there is one for all slots every second.
   */
  #roomFor(session: WorkerSession, { lane, namespaceId }: DirectNotice): number {
    const { cursors, groups } = this.#options;
    const cursor = cursors.find(lane, namespaceId);
    if (cursor === null || cursor.isHeld) return 0;
    for (const group of groups())
      if (group.sessions.has(session) && cursor.listeners.has(group.scans)) return session.idleFor(group);
    return 0;
  }
}

/** One for each lane of each session. */
function noticesFor(found: readonly DirectRunPlace[]): DirectNotice[] {
  const notices = new Map<string, DirectNotice & { readonly ids: string[] }>();
  for (const { id, sessionId, lane, namespaceId } of found) {
    const key = `${sessionId} ${lane} ${namespaceId}`;
    const notice = notices.get(key);
    if (notice === undefined)
      notices.set(key, { from: null, sessionId, lane, namespaceId, ids: [id], use: null, runs: null });
    else notice.ids.push(id);
  }
  return [...notices.values()];
}
