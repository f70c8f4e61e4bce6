import { type Clock, type DurationMs, similarWord } from "@carillon/core";
import type { SessionKind, SessionStore } from "@carillon/store";
import { type RunToServe, type Unserved, whyUnserved } from "./why-unserved.js";

/** That a worker serves a task is remembered for this time. */
const servedForMs: DurationMs = 10_000;
/** That none does, for this time: its start may be a moment away. */
const unservedForMs: DurationMs = 1_000;
/** Tasks of all namespaces; beyond this number all are read again. */
const maxKnown = 10_000;

interface Known {
  readonly kinds: readonly SessionKind[];
  readonly similarTask: string | undefined;
  readonly readAt: DurationMs;
}

/**
 * The workers of each task, as this node read them some seconds ago. Every call that creates a job or a run warns if no worker serves its
 * task: a read for each would cost as much as the call.
 */
export class TaskServers {
  readonly #sessions: Pick<SessionStore, "kinds" | "servedTasks">;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<Known>>();

  constructor(sessions: Pick<SessionStore, "kinds" | "servedTasks">, clock: Pick<Clock, "monotonic">) {
    this.#sessions = sessions;
    this.#clock = clock;
  }

  async whyUnserved(namespaceId: number, run: RunToServe): Promise<Unserved | null> {
    const key = `${namespaceId} ${run.task}`;
    const known = this.#known.get(key);
    if (known !== undefined) {
      const ageMs = this.#clock.monotonic() - known.readAt;
      const why = explained(run, known);
      if (ageMs < (why === null ? servedForMs : unservedForMs)) return why;
    }
    return explained(run, await this.#read(key, namespaceId, run.task));
  }

  /** Concurrent calls share one read. */
  #read(key: string, namespaceId: number, task: string): Promise<Known> {
    let reading = this.#reading.get(key);
    if (reading === undefined) {
      reading = this.#readNow(key, namespaceId, task).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    return reading;
  }

  async #readNow(key: string, namespaceId: number, task: string): Promise<Known> {
    const readAt = this.#clock.monotonic();
    const kinds = await this.#sessions.kinds(namespaceId, task);
    const similarTask = kinds.length > 0 ? undefined : similarWord(task, await this.#sessions.servedTasks(namespaceId));
    if (this.#known.size >= maxKnown) this.#known.clear();
    const known = { kinds, similarTask, readAt };
    this.#known.set(key, known);
    return known;
  }
}

function explained(run: RunToServe, { kinds, similarTask }: Known): Unserved | null {
  const why = whyUnserved(run, kinds);
  return why === null || similarTask === undefined ? why : { ...why, similarTask };
}
