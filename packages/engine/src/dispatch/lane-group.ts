import type { DurationMs } from "@carillon/core";
import type { Lane, LaneKind, LaneStore } from "../store/entities/lanes.js";
import type { LaneAgenda } from "./lane-agenda.js";
import type { WorkerSession } from "./worker-session.js";

const kinds: readonly LaneKind[] = ["plain", "solo", "lost"];

/** What workers can do; those that can do the same are served together. */
export interface Skills {
  readonly namespaceId: number;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
}

/** The sessions that serve the same lanes. */
export class LaneGroup {
  readonly key: string;
  readonly namespaceId: number;
  readonly sessions = new Set<WorkerSession>();
  readonly agenda: LaneAgenda;
  readonly #queues: readonly string[];
  readonly #tasks: ReadonlySet<string>;
  #lookedAt: DurationMs = Number.NEGATIVE_INFINITY;

  static keyOf({ namespaceId, queues, tasks }: Skills): string {
    return JSON.stringify([namespaceId, [...queues].sort(), [...tasks].sort()]);
  }

  constructor(skills: Skills, agenda: LaneAgenda) {
    this.key = LaneGroup.keyOf(skills);
    this.namespaceId = skills.namespaceId;
    this.agenda = agenda;
    this.#queues = skills.queues;
    this.#tasks = new Set(skills.tasks);
  }

  get isEverywhere(): boolean {
    return this.#queues.length === 1 && this.#queues[0] === "*";
  }

  /** Lanes never go, but for a group that serves every queue new ones come. */
  isToLook(now: DurationMs, everyMs: DurationMs): boolean {
    return now - this.#lookedAt >= (this.isEverywhere ? everyMs : Number.POSITIVE_INFINITY);
  }

  async find(lanes: LaneStore, now: DurationMs): Promise<Lane[]> {
    this.#lookedAt = now;
    if (this.isEverywhere) return (await lanes.list()).filter((lane) => this.#tasks.has(lane.task));
    const names = this.#queues.flatMap((queue) => [...this.#tasks].map((task) => ({ queue, task })));
    const ids = await lanes.ensure(names.flatMap((name) => kinds.map((kind) => ({ ...name, kind }))));
    return ids.map((id) => lanes.get(id)).filter((lane) => lane !== null);
  }
}
