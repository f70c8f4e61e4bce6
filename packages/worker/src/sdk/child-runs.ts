import type { RunCreate } from "@carillon/client";
import { CarillonError } from "@carillon/core";
import { NonRetryableError } from "../runtime/errors.js";
import type { CreatedRun, TaskContext } from "../runtime/task.js";
import { runRequest } from "./requests.js";
import type { ChildItem, ChildOptions, HandlerContext, TaskReference } from "./task.js";

/** How long an ended run still counts for its key: a retried attempt of its parent that comes later creates it again. */
const window = "30d";

/** The context of a handler, with the methods that create runs. */
export function handlerContext(ctx: TaskContext): HandlerContext {
  const children = new ChildRuns(ctx);
  return Object.assign(ctx, {
    enqueue: children.enqueue,
    enqueueMany: children.enqueueMany,
  });
}

/**
 * Creates the runs of one attempt. Each has a dedupe key made of the parent's id and its own key or number, which is the same in every
 * attempt: of several attempts only one creates it.
 */
class ChildRuns {
  readonly #ctx: TaskContext;
  #calls = 0;

  constructor(ctx: TaskContext) {
    this.#ctx = ctx;
  }

  readonly enqueue: HandlerContext["enqueue"] = async (task, payload, options = {}) => {
    const [one] = await this.#create([await this.#requestOf(task, payload, options)]);
    if (one === undefined) throw new Error("The engine returned no outcome for a new run.");
    return one;
  };

  readonly enqueueMany: HandlerContext["enqueueMany"] = async <Input>(
    task: TaskReference<Input>,
    items: readonly ChildItem<Input>[],
  ) => {
    // All numbers are taken before the first wait, so that concurrent calls do not mix them.
    const requests = items.map(({ payload, ...options }) => this.#requestOf(task, payload, options));
    return [...(await this.#create(await Promise.all(requests)))];
  };

  #requestOf<Input>(task: TaskReference<Input>, payload: Input, { key, ...options }: ChildOptions): Promise<RunCreate> {
    if (options.dedupe !== undefined) {
      if (key === undefined) return runRequest(task, payload, options);
      throw new NonRetryableError("A run that a handler creates has either key or dedupe. Leave out one of the two.");
    }
    if (key === "")
      throw new CarillonError("field_invalid", "The key of a run that a handler creates must not be empty.");
    // A key of digits cannot be confused with a number: the separator differs.
    const own = key === undefined ? `#${this.#calls++}` : `:${key}`;
    return runRequest(task, payload, { ...options, dedupe: { key: `${this.#ctx.runId}${own}`, window } });
  }

  async #create(requests: readonly RunCreate[]): Promise<readonly CreatedRun[]> {
    if (requests.length === 0) return [];
    const { createRuns } = this.#ctx;
    if (createRuns === undefined) throw new NonRetryableError("The handlers of this worker cannot create runs.");
    return createRuns(requests);
  }
}
