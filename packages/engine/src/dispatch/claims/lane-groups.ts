import { type Abilities, type DurationMs, meets } from "@carillon/core";
import { isStrict, type Lane, type LaneKind, type LaneName, type LaneStore } from "@carillon/store";
import type { WorkerSession } from "../sessions/worker-session.js";
import { PayloadBatchSize } from "./batch-size.js";
import type { LaneCursors } from "./lane-cursors.js";
import { LaneScanQueue } from "./lane-scan-queue.js";
import { NamespaceTurns } from "./namespace-turns.js";

/** The kinds in which every lane exists, unless its queue is strict. */
const kinds: readonly LaneKind[] = ["plain", "solo", "lost"];

/** What workers can do, for tasks of one weight; workers with the same skills are served together. */
export interface Skills extends Abilities {
  /** The namespaces whose runs they take; null for every one, also for those that do not exist yet. */
  readonly namespaceIds: readonly number[] | null;
  /** `*` alone stands for every queue, also for queues that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  /** How many slots a run of these tasks takes. */
  readonly weight: number;
}

/** What a worker can do, tasks of every weight together. */
export interface WorkerAbilities extends Omit<Skills, "weight"> {
  /** The weights of tasks whose runs take more than one slot. */
  readonly weights?: ReadonlyMap<string, number>;
}

/** The queues of each namespace, as far as they are known. */
export interface QueuesInUse {
  /** Grows when a queue is added. */
  readonly edition: number;
  inUse(): Iterable<readonly [namespaceId: number, queues: Iterable<string>]>;
}

export interface LaneGroupsOptions {
  readonly lanes: LaneStore;
  readonly cursors: LaneCursors;
  readonly queues: QueuesInUse;
  readonly weightOf: (namespaceId: number) => number;
  readonly fullScanIntervalMs: DurationMs;
}

/** The highest id is among so many lanes at the end of the list: they are listed nearly in the order of their ids. */
const lookBack = 1_000;

/** The groups that have a session; a group ends with its last. */
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

  /** Whether the lane was made since the last scan. */
  isNew(laneId: number): boolean {
    return this.#groups.size > 0 && laneId > this.#highest;
  }

  values(): Iterable<LaneGroup> {
    return this.#groups.values();
  }

  /** A session joins one group for each weight of its tasks: a claim is for runs of one weight. */
  async join(abilities: WorkerAbilities, session: WorkerSession): Promise<void> {
    const joined: LaneGroup[] = [];
    this.#bySession.set(session, joined);
    try {
      for (const skills of byWeight(abilities)) joined.push(await this.#join(skills, session));
    } catch (error) {
      this.leave(session);
      throw error;
    }
  }

  async #join(skills: Skills, session: WorkerSession): Promise<LaneGroup> {
    const key = LaneGroup.keyOf(skills);
    if (!this.#groups.has(key)) {
      const { lanes, weightOf, fullScanIntervalMs } = this.#options;
      const scans = new LaneScanQueue(fullScanIntervalMs);
      const added = new LaneGroup(skills, { scans, turns: new NamespaceTurns(weightOf) });
      await lanes.ensure(added.names);
      const all = await lanes.list();
      if (!this.#groups.has(key)) {
        this.#groups.set(key, added);
        this.#serve(added, all);
      }
    }
    const group = this.#groups.get(key);
    if (group === undefined) throw new Error("a lane group ended before its first session joined");
    group.sessions.add(session);
    return group;
  }

  leave(session: WorkerSession): void {
    for (const group of this.#bySession.get(session) ?? []) {
      group.sessions.delete(session);
      if (group.sessions.size > 0) continue;
      this.#groups.delete(group.key);
      this.#options.cursors.release(group.scans);
    }
    this.#bySession.delete(session);
  }

  /** Adds lanes that were made since the last scan: of new queues, and strict ones. */
  async scan(): Promise<void> {
    if (this.#groups.size === 0) return;
    const all = await this.#options.lanes.list();
    for (const { id } of all.slice(-lookBack)) this.#highest = Math.max(this.#highest, id);
    for (const group of this.#groups.values()) this.#serve(group, all);
  }

  /** A run is in a lane of a namespace that no group may serve yet. */
  add(lane: Lane, namespaceId: number): void {
    if (isStrict(lane.kind)) return;
    for (const group of this.#groups.values()) {
      if (group.only !== null || !group.takesFrom(namespaceId) || !group.serves(lane)) continue;
      this.#options.cursors.serve(group.scans, [lane], namespaceId);
    }
  }

  #serve(group: LaneGroup, all: readonly Lane[]): void {
    const { cursors, queues } = this.#options;
    const found = all.slice(group.seen).filter((lane) => group.serves(lane));
    group.seen = Math.max(group.seen, all.length);
    for (const lane of found) group.add(lane);
    if (group.only !== null) {
      const others = found.filter(({ kind }) => !isStrict(kind));
      return cursors.serve(group.scans, others, group.only);
    }
    if (found.length === 0 && group.seenQueues === queues.edition) return;
    group.seenQueues = queues.edition;
    // Of a namespace only the lanes of queues that it has: most namespaces use few of them.
    for (const [namespaceId, names] of queues.inUse()) {
      if (!group.takesFrom(namespaceId)) continue;
      for (const queue of names) {
        cursors.serve(group.scans, group.lanesOf(queue), namespaceId);
        group.uses(queue, namespaceId);
      }
    }
  }
}

/** The sessions that serve the same lanes. */
export class LaneGroup {
  readonly key: string;
  /** null for every one. */
  readonly namespaceIds: ReadonlySet<number> | null;
  /** Shares slots between namespaces; not used by a group of one namespace. */
  readonly turns: NamespaceTurns;
  /** How many slots a run takes. */
  readonly weight: number;
  readonly sessions = new Set<WorkerSession>();
  readonly batchSize = new PayloadBatchSize();
  readonly scans: LaneScanQueue;
  /** The lanes of strict queues, by queue. */
  readonly strict = new Map<string, Set<number>>();
  /** The other lanes by queue, if the group serves several namespaces. */
  readonly #lanes = new Map<string, Lane[]>();
  /** The namespaces that have a queue of each name, if the group serves several. */
  readonly #users = new Map<string, Set<number>>();
  /** How many lanes of the list were checked. */
  seen = 0;
  /** The edition of the queues that were checked, if the group serves several namespaces. */
  seenQueues = -1;
  readonly #queues: ReadonlySet<string> | null;
  readonly #tasks: ReadonlySet<string>;
  readonly #abilities: Abilities;

  static keyOf({ namespaceIds, queues, tasks, weight, labels = {}, versions = {}, isSpot = false }: Skills): string {
    const has = [sorted(labels), sorted(versions), isSpot];
    const from = namespaceIds && [...namespaceIds].sort((a, b) => a - b);
    return JSON.stringify([from, [...queues].sort(), [...tasks].sort(), weight, ...has]);
  }

  constructor(skills: Skills, { scans, turns }: { scans: LaneScanQueue; turns: NamespaceTurns }) {
    const { namespaceIds, queues, tasks, weight } = skills;
    this.key = LaneGroup.keyOf(skills);
    this.namespaceIds = namespaceIds && new Set(namespaceIds);
    this.weight = weight;
    this.scans = scans;
    this.turns = turns;
    this.#queues = queues.length === 1 && queues[0] === "*" ? null : new Set(queues);
    this.#tasks = new Set(tasks);
    this.#abilities = skills;
  }

  /** The one namespace of workers that serve no other; null if they serve several. */
  get only(): number | null {
    const [first = null, second] = this.namespaceIds ?? [];
    return second === undefined ? first : null;
  }

  /** Workers of the group serve several namespaces. */
  get isShared(): boolean {
    return this.only === null;
  }

  /** The namespaces that it takes runs from, as far as they are known. */
  get namespaces(): Iterable<number> {
    if (this.namespaceIds !== null) return this.namespaceIds;
    return new Set([...this.#users.values()].flatMap((users) => [...users]));
  }

  takesFrom(namespaceId: number): boolean {
    return this.namespaceIds?.has(namespaceId) ?? true;
  }

  /** Lanes to make at once, so that they are known when their first run is queued. */
  get names(): LaneName[] {
    const named = [...(this.#queues ?? [])].flatMap((queue) => [...this.#tasks].map((task) => ({ queue, task })));
    return named.flatMap((name) => kinds.map((kind) => ({ ...name, kind })));
  }

  serves({ queue, task, requires }: Lane): boolean {
    return this.#tasks.has(task) && (this.#queues?.has(queue) ?? true) && meets(this.#abilities, task, requires);
  }

  /** A lane that it serves. */
  add(lane: Lane): void {
    const { id, queue, kind } = lane;
    if (isStrict(kind)) this.strict.set(queue, (this.strict.get(queue) ?? new Set()).add(id));
    else if (this.only === null) this.#lanes.set(queue, [...(this.#lanes.get(queue) ?? []), lane]);
  }

  lanesOf(queue: string): readonly Lane[] {
    return this.#lanes.get(queue) ?? [];
  }

  /** A namespace has a queue of this name. */
  uses(queue: string, namespaceId: number): void {
    this.#users.set(queue, (this.#users.get(queue) ?? new Set()).add(namespaceId));
  }

  /** The namespaces from whose queue of this name it may claim. */
  usersOf(queue: string): Iterable<number> {
    return this.only === null ? (this.#users.get(queue) ?? []) : [this.only];
  }
}

function sorted(record: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function byWeight({ namespaceIds, queues, tasks, weights, ...rest }: WorkerAbilities): Skills[] {
  const { labels, versions, isSpot }: Abilities = rest;
  const has = { ...(labels && { labels }), ...(versions && { versions }), ...(isSpot === true && { isSpot }) };
  const apart = new Map<number, string[]>();
  for (const task of tasks) {
    const weight = weights?.get(task) ?? 1;
    apart.set(weight, [...(apart.get(weight) ?? []), task]);
  }
  return [...apart].map(([weight, ofWeight]) => ({ namespaceIds, queues, tasks: ofWeight, weight, ...has }));
}
