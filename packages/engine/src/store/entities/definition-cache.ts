import { type FiringPolicy, firingPolicy, type ScheduleSpec } from "@carillon/core";
import type { DueDefinition } from "../../scheduler/fire-store.js";

/** What a definition is made of, as it is stored. */
export interface DefinitionTexts {
  readonly namespace_id: number;
  readonly schedule: string;
  readonly firing: string | null;
  readonly priority: number;
  readonly task: string;
  readonly queue: string;
  readonly labels: string;
  readonly deadline_ms: number | null;
}

/** Equal definitions become one object: a herd of a hundred thousand jobs has few different ones. */
export class DefinitionCache {
  readonly #limit: number;
  readonly #known = new Map<string, DueDefinition>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(texts: DefinitionTexts): DueDefinition {
    const {
      namespace_id: namespaceId,
      priority,
      task,
      queue,
      schedule,
      firing,
      labels,
      deadline_ms: deadlineMs,
    } = texts;
    const key = `${namespaceId} ${priority} ${deadlineMs} ${queue}\n${task}\n${schedule}\n${firing}\n${labels}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Whatever is still in use is put in again with the next reads.
    if (this.#known.size >= this.#limit) this.#known.clear();
    const definition: DueDefinition = {
      namespaceId,
      schedule: JSON.parse(schedule) as ScheduleSpec,
      firing: firingPolicy(firing === null ? {} : (JSON.parse(firing) as Partial<FiringPolicy>)),
      priority,
      task,
      queue,
      labels: JSON.parse(labels) as Record<string, string>,
      ...(deadlineMs !== null && { deadlineMs }),
    };
    this.#known.set(key, definition);
    return definition;
  }
}
