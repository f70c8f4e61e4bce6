import { isStrict, type Lane, type LaneStore } from "../store/entities/lanes.js";
import type { LaneBounds } from "./lane-bounds.js";
import { LaneGroup, type Skills } from "./lane-group.js";
import type { WorkerSession } from "./worker-session.js";

export interface LaneGroupsOptions {
  readonly lanes: LaneStore;
  readonly bounds: LaneBounds;
}

/** Lanes at the end of the list among which is the highest id: they come nearly in the order of their ids. */
const lookedBack = 1_000;

/** The groups that have a session; one goes with its last. */
export class LaneGroups {
  readonly #options: LaneGroupsOptions;
  readonly #groups = new Map<string, LaneGroup>();
  #highest = 0;
  readonly #bySession = new Map<WorkerSession, LaneGroup>();

  constructor(options: LaneGroupsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#groups.size;
  }

  /** Whether the lane was made since the last look. */
  isNew(laneId: number): boolean {
    return this.#groups.size > 0 && laneId > this.#highest;
  }

  values(): Iterable<LaneGroup> {
    return this.#groups.values();
  }

  async join(skills: Skills, session: WorkerSession): Promise<void> {
    const key = LaneGroup.keyOf(skills);
    if (!this.#groups.has(key)) {
      const { bounds, lanes } = this.#options;
      const made = new LaneGroup(skills, bounds.agenda());
      await lanes.ensure(made.names);
      const all = await lanes.list();
      if (!this.#groups.has(key)) {
        this.#groups.set(key, made);
        this.#serve(made, all);
      }
    }
    const group = this.#groups.get(key);
    if (group === undefined) throw new Error("a group of lanes went before its first session came");
    group.sessions.add(session);
    this.#bySession.set(session, group);
  }

  leave(session: WorkerSession): void {
    const group = this.#bySession.get(session);
    if (group === undefined) return;
    this.#bySession.delete(session);
    group.sessions.delete(session);
    if (group.sessions.size > 0) return;
    this.#groups.delete(group.key);
    this.#options.bounds.release(group.agenda);
  }

  /** Lanes that came later: of new queues, of strict ones. */
  async look(): Promise<void> {
    if (this.#groups.size === 0) return;
    const all = await this.#options.lanes.list();
    for (const { id } of all.slice(-lookedBack)) this.#highest = Math.max(this.#highest, id);
    for (const group of this.#groups.values()) this.#serve(group, all);
  }

  #serve(group: LaneGroup, all: readonly Lane[]): void {
    const found = all.slice(group.seen).filter((lane) => group.serves(lane));
    group.seen = Math.max(group.seen, all.length);
    for (const { id, queue, kind } of found) {
      if (!isStrict(kind)) continue;
      const lanes = group.strict.get(queue) ?? new Set();
      group.strict.set(queue, lanes.add(id));
    }
    const others = found.filter(({ kind }) => !isStrict(kind));
    this.#options.bounds.serve(group.agenda, others, group.namespaceId);
  }
}
