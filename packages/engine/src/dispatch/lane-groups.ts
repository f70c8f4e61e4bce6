import type { DurationMs } from "@carillon/core";
import type { Lane, LaneStore } from "../store/entities/lanes.js";
import type { LaneBounds } from "./lane-bounds.js";
import { LaneGroup, type Skills } from "./lane-group.js";
import type { WorkerSession } from "./worker-session.js";

export interface LaneGroupsOptions {
  readonly lanes: LaneStore;
  readonly bounds: LaneBounds;
  readonly monotonic: () => DurationMs;
  /** How often lanes that are new are looked for. */
  readonly everyMs: DurationMs;
}

/** The groups that have a session; one goes with its last. */
export class LaneGroups {
  readonly #options: LaneGroupsOptions;
  readonly #groups = new Map<string, LaneGroup>();
  readonly #bySession = new Map<WorkerSession, LaneGroup>();

  constructor(options: LaneGroupsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#groups.size;
  }

  values(): Iterable<LaneGroup> {
    return this.#groups.values();
  }

  async join(skills: Skills, session: WorkerSession): Promise<void> {
    const key = LaneGroup.keyOf(skills);
    if (!this.#groups.has(key)) {
      const { bounds, lanes, monotonic } = this.#options;
      const made = new LaneGroup(skills, bounds.agenda());
      const found = await made.find(lanes, monotonic());
      if (!this.#groups.has(key)) this.#add(made, found);
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

  /** New queues for workers that serve them all. */
  async look(): Promise<void> {
    const { lanes, bounds, monotonic, everyMs } = this.#options;
    for (const group of this.#groups.values()) {
      if (!group.isToLook(monotonic(), everyMs)) continue;
      const found = await group.find(lanes, monotonic());
      // It may have gone meanwhile.
      if (this.#groups.get(group.key) === group) bounds.serve(group.agenda, found, group.namespaceId);
    }
  }

  #add(group: LaneGroup, lanes: readonly Lane[]): void {
    this.#groups.set(group.key, group);
    this.#options.bounds.serve(group.agenda, lanes, group.namespaceId);
  }
}
