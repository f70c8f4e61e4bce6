import type { Abilities } from "@carillon/core";
import { isStrict, type Lane, type LaneStore } from "@carillon/store";
import type { LaneBounds } from "./lane-bounds.js";
import { LaneGroup, type Skills } from "./lane-group.js";
import { NamespaceTurns } from "./namespace-turns.js";
import type { WorkerSession } from "../sessions/worker-session.js";

/** What a worker can do, tasks of every weight together. */
export interface SkillsOfAll extends Omit<Skills, "weight"> {
  /** Of tasks whose runs take more than one slot. */
  readonly weights?: ReadonlyMap<string, number>;
}

/** The queues of each namespace, as far as they are known. */
export interface QueuesInUse {
  /** Grows when a queue comes. */
  readonly edition: number;
  inUse(): Iterable<readonly [namespaceId: number, queues: Iterable<string>]>;
}

export interface LaneGroupsOptions {
  readonly lanes: LaneStore;
  readonly bounds: LaneBounds;
  readonly queues: QueuesInUse;
  readonly weightOf: (namespaceId: number) => number;
}

/** Lanes at the end of the list among which is the highest id: they come nearly in the order of their ids. */
const lookedBack = 1_000;

/** The groups that have a session; one goes with its last. */
export class LaneGroups {
  readonly #options: LaneGroupsOptions;
  readonly #groups = new Map<string, LaneGroup>();
  #highest = 0;
  readonly #bySession = new Map<WorkerSession, LaneGroup[]>();

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

  /** Once for each weight of its tasks: a claim is for runs of one weight. */
  async join(skills: SkillsOfAll, session: WorkerSession): Promise<void> {
    const joined: LaneGroup[] = [];
    this.#bySession.set(session, joined);
    try {
      for (const one of byWeight(skills)) joined.push(await this.#join(one, session));
    } catch (error) {
      this.leave(session);
      throw error;
    }
  }

  async #join(skills: Skills, session: WorkerSession): Promise<LaneGroup> {
    const key = LaneGroup.keyOf(skills);
    if (!this.#groups.has(key)) {
      const { bounds, lanes, weightOf } = this.#options;
      const made = new LaneGroup(skills, { agenda: bounds.agenda(), turns: new NamespaceTurns(weightOf) });
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
    return group;
  }

  leave(session: WorkerSession): void {
    for (const group of this.#bySession.get(session) ?? []) {
      group.sessions.delete(session);
      if (group.sessions.size > 0) continue;
      this.#groups.delete(group.key);
      this.#options.bounds.release(group.agenda);
    }
    this.#bySession.delete(session);
  }

  /** Lanes that came later: of new queues, of strict ones. */
  async look(): Promise<void> {
    if (this.#groups.size === 0) return;
    const all = await this.#options.lanes.list();
    for (const { id } of all.slice(-lookedBack)) this.#highest = Math.max(this.#highest, id);
    for (const group of this.#groups.values()) this.#serve(group, all);
  }

  /** A run lies in a lane of a namespace that nobody may have looked at yet. */
  meet(lane: Lane, namespaceId: number): void {
    if (isStrict(lane.kind)) return;
    for (const group of this.#groups.values()) {
      if (group.only !== null || !group.takesFrom(namespaceId) || !group.serves(lane)) continue;
      this.#options.bounds.serve(group.agenda, [lane], namespaceId);
    }
  }

  #serve(group: LaneGroup, all: readonly Lane[]): void {
    const { bounds, queues } = this.#options;
    const found = all.slice(group.seen).filter((lane) => group.serves(lane));
    group.seen = Math.max(group.seen, all.length);
    for (const lane of found) group.add(lane);
    if (group.only !== null) {
      const others = found.filter(({ kind }) => !isStrict(kind));
      return bounds.serve(group.agenda, others, group.only);
    }
    if (found.length === 0 && group.seenQueues === queues.edition) return;
    group.seenQueues = queues.edition;
    // Of a namespace only the lanes of queues that it has: most namespaces use few of them.
    for (const [namespaceId, names] of queues.inUse()) {
      if (!group.takesFrom(namespaceId)) continue;
      for (const queue of names) {
        bounds.serve(group.agenda, group.lanesOf(queue), namespaceId);
        group.uses(queue, namespaceId);
      }
    }
  }
}

function byWeight({ namespaceIds, queues, tasks, weights, ...rest }: SkillsOfAll): Skills[] {
  const { labels, versions, isSpot }: Abilities = rest;
  const has = { ...(labels && { labels }), ...(versions && { versions }), ...(isSpot === true && { isSpot }) };
  const apart = new Map<number, string[]>();
  for (const task of tasks) {
    const weight = weights?.get(task) ?? 1;
    apart.set(weight, [...(apart.get(weight) ?? []), task]);
  }
  return [...apart].map(([weight, ofWeight]) => ({ namespaceIds, queues, tasks: ofWeight, weight, ...has }));
}
