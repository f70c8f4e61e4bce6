import { type Abilities, meets } from "@carillon/core";
import { isStrict, type Lane, type LaneKind, type LaneName } from "@carillon/store";
import { AnswerWeight } from "./answer-weight.js";
import type { LaneAgenda } from "./lane-scan-queue.js";
import type { NamespaceTurns } from "./namespace-turns.js";
import type { WorkerSession } from "../sessions/worker-session.js";

/** Those that every lane comes in, unless its queue is strict. */
const kinds: readonly LaneKind[] = ["plain", "solo", "lost"];

/** What workers can do; those that can do the same are served together. */
export interface Skills extends Abilities {
  /** Those whose runs they take; null for every one, also for those that do not exist yet. */
  readonly namespaceIds: readonly number[] | null;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  /** How many slots a run of these tasks takes. */
  readonly weight: number;
}

/** The sessions that serve the same lanes. */
export class LaneGroup {
  readonly key: string;
  /** null for every one. */
  readonly namespaceIds: ReadonlySet<number> | null;
  /** Whose turn it is; a group of one namespace needs none. */
  readonly turns: NamespaceTurns;
  /** How many slots a run takes. */
  readonly weight: number;
  readonly sessions = new Set<WorkerSession>();
  /** What claims for them weigh. */
  readonly answers = new AnswerWeight();
  readonly agenda: LaneAgenda;
  /** The lanes of strict queues, by queue. */
  readonly strict = new Map<string, Set<number>>();
  /** The other lanes by queue, if it serves several namespaces. */
  readonly #lanes = new Map<string, Lane[]>();
  /** Whose queues of each name were seen, if it serves several namespaces. */
  readonly #users = new Map<string, Set<number>>();
  /** How many of the lanes that there are were looked at. */
  seen = 0;
  /** The edition of the queues that were looked at, if it serves several namespaces. */
  seenQueues = -1;
  readonly #queues: ReadonlySet<string> | null;
  readonly #tasks: ReadonlySet<string>;
  readonly #abilities: Abilities;

  static keyOf({ namespaceIds, queues, tasks, weight, labels = {}, versions = {}, isSpot = false }: Skills): string {
    const has = [sorted(labels), sorted(versions), isSpot];
    const from = namespaceIds && [...namespaceIds].sort((a, b) => a - b);
    return JSON.stringify([from, [...queues].sort(), [...tasks].sort(), weight, ...has]);
  }

  constructor(skills: Skills, { agenda, turns }: { agenda: LaneAgenda; turns: NamespaceTurns }) {
    const { namespaceIds, queues, tasks, weight } = skills;
    this.key = LaneGroup.keyOf(skills);
    this.namespaceIds = namespaceIds && new Set(namespaceIds);
    this.weight = weight;
    this.agenda = agenda;
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

  /** Those that it takes runs from, as far as they are known. */
  get namespaces(): Iterable<number> {
    if (this.namespaceIds !== null) return this.namespaceIds;
    return new Set([...this.#users.values()].flatMap((users) => [...users]));
  }

  takesFrom(namespaceId: number): boolean {
    return this.namespaceIds?.has(namespaceId) ?? true;
  }

  /** Lanes that are made before anybody asks for them, so that their first run finds them known. */
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

  /** Whose queues of this name it may claim from. */
  usersOf(queue: string): Iterable<number> {
    return this.only === null ? (this.#users.get(queue) ?? []) : [this.only];
  }
}

function sorted(record: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
