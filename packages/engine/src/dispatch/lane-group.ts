import { type Abilities, meets } from "@carillon/core";
import type { Lane, LaneKind, LaneName } from "../store/entities/lanes.js";
import type { LaneAgenda } from "./lane-agenda.js";
import type { WorkerSession } from "./worker-session.js";

/** Those that every lane comes in, unless its queue is strict. */
const kinds: readonly LaneKind[] = ["plain", "solo", "lost"];

/** What workers can do; those that can do the same are served together. */
export interface Skills extends Abilities {
  readonly namespaceId: number;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  /** How many slots a run of these tasks takes. */
  readonly weight: number;
}

/** The sessions that serve the same lanes. */
export class LaneGroup {
  readonly key: string;
  readonly namespaceId: number;
  /** How many slots a run takes. */
  readonly weight: number;
  readonly sessions = new Set<WorkerSession>();
  readonly agenda: LaneAgenda;
  /** The lanes of strict queues, by queue. */
  readonly strict = new Map<string, Set<number>>();
  /** How many of the lanes that there are were looked at. */
  seen = 0;
  readonly #queues: ReadonlySet<string> | null;
  readonly #tasks: ReadonlySet<string>;
  readonly #abilities: Abilities;

  static keyOf({ namespaceId, queues, tasks, weight, labels = {}, versions = {}, isSpot = false }: Skills): string {
    const has = [sorted(labels), sorted(versions), isSpot];
    return JSON.stringify([namespaceId, [...queues].sort(), [...tasks].sort(), weight, ...has]);
  }

  constructor(skills: Skills, agenda: LaneAgenda) {
    const { namespaceId, queues, tasks, weight } = skills;
    this.key = LaneGroup.keyOf(skills);
    this.namespaceId = namespaceId;
    this.weight = weight;
    this.agenda = agenda;
    this.#queues = queues.length === 1 && queues[0] === "*" ? null : new Set(queues);
    this.#tasks = new Set(tasks);
    this.#abilities = skills;
  }

  /** Lanes that are made before anybody asks for them, so that their first run finds them known. */
  get names(): LaneName[] {
    const named = [...(this.#queues ?? [])].flatMap((queue) => [...this.#tasks].map((task) => ({ queue, task })));
    return named.flatMap((name) => kinds.map((kind) => ({ ...name, kind })));
  }

  serves({ queue, task, requires }: Lane): boolean {
    return this.#tasks.has(task) && (this.#queues?.has(queue) ?? true) && meets(this.#abilities, task, requires);
  }
}

function sorted(record: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
