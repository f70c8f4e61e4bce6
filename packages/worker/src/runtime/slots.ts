import type { Assignment } from "@carillon/core";
import { weightsOf } from "./registration.js";
import type { Running } from "./running.js";
import type { WorkerOptions } from "./worker-options.js";

/** How many runs a worker does at a time, and how many of its slots each takes. */
export class Slots {
  readonly #count: number;
  /** Of tasks whose runs take more than one; null: there are none. */
  readonly #weights: ReadonlyMap<string, number> | null;

  constructor(options: Pick<WorkerOptions, "tasks" | "slots">) {
    this.#count = options.slots;
    this.#weights = weightsOf(options);
  }

  takenBy({ task }: Assignment): number {
    return this.#weights?.get(task) ?? 1;
  }

  takenByAll(running: ReadonlyMap<string, Running>): number {
    if (this.#weights === null) return running.size;
    return [...running.values()].reduce((sum, { assignment }) => sum + this.takenBy(assignment), 0);
  }

  /** A run can begin while so many are taken. */
  fits(assignment: Assignment, taken: number): boolean {
    return taken + this.takenBy(assignment) <= this.#count;
  }
}
