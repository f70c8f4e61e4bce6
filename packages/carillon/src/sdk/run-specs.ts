import { readRunCreate, refuseUnsoundPayload } from "@carillon/contract";
import type { EnqueueSpec, Instant } from "@carillon/core";
import { type EnqueueOptions, runRequest, soundPayload, type TaskReference } from "@carillon/worker";

/**
 * Requests for runs as the engine takes them. Most calls give a payload and nothing else: what the task says is read once, and then
 * only payloads are looked at.
 */
export class RunSpecs {
  readonly #now: () => Instant;
  readonly #bare = new WeakMap<object, EnqueueSpec>();

  /** The scheduler's clock: delays count from it. */
  constructor(now: () => Instant) {
    this.#now = now;
  }

  async read<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): Promise<EnqueueSpec> {
    if (typeof task === "string" || !isEmpty(options)) {
      return readRunCreate(await runRequest(task, payload, options), { now: this.#now() });
    }
    const bare = this.#bare.get(task);
    if (bare !== undefined) {
      const given = soundPayload(task, payload);
      const sound = given instanceof Promise ? await given : given;
      refuseUnsoundPayload(sound);
      return { ...bare, payload: sound };
    }
    const spec = readRunCreate(await runRequest(task, payload, options), { now: this.#now() });
    this.#bare.set(task, { ...spec, payload: null });
    return spec;
  }
}

function isEmpty(options: EnqueueOptions): boolean {
  for (const _ in options) return false;
  return true;
}
