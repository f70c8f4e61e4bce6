import { readRunCreate, refuseUnsoundPayload } from "@carillon/contract";
import { type EnqueueSpec, type Instant, JsonText, looksIntoPayload } from "@carillon/core";
import { type EnqueueOptions, runRequest, soundPayloadText, type TaskReference } from "@carillon/worker";

/**
 * Requests for runs as the engine takes them. Most calls give a payload and nothing else: what the task says is read once, and then
 * only payloads are looked at, each written as JSON once.
 */
export class RunSpecs {
  readonly #now: () => Instant;
  readonly #bare = new WeakMap<object, EnqueueSpec>();

  /** The scheduler's clock: delays count from it. */
  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** A promise only where something has to be waited for: thousands of calls come without. */
  read<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): EnqueueSpec | Promise<EnqueueSpec> {
    const bare = typeof task === "string" || !isEmpty(options) ? undefined : this.#bare.get(task);
    if (bare === undefined) return this.#readWhole(task, payload, options);
    const text = soundPayloadText(task, payload);
    return typeof text === "string" ? withPayload(bare, text) : text.then((sound) => withPayload(bare, sound));
  }

  async #readWhole<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): Promise<EnqueueSpec> {
    const spec = readRunCreate(await runRequest(task, payload, options), { now: this.#now() });
    if (typeof task !== "string" && isEmpty(options)) this.#bare.set(task, { ...spec, payload: null });
    return spec;
  }
}

function withPayload(bare: EnqueueSpec, text: string): EnqueueSpec {
  refuseUnsoundPayload(text);
  const payload: unknown = looksIntoPayload(bare.policy) ? JSON.parse(text) : new JsonText(text);
  return { ...bare, payload };
}

function isEmpty(options: EnqueueOptions): boolean {
  for (const _ in options) return false;
  return true;
}
