import { type DefaultsOf, readRunCreate, refuseUnsoundPayload } from "@carillon/contract";
import { type EnqueueSpec, type Instant, JsonText, readsPayload } from "@carillon/core";
import { type EnqueueOptions, runRequest, soundPayloadText, type TaskReference } from "@carillon/worker";

/** A task as it was read for runs that say nothing more, and what its workers said then. */
interface BareTask {
  readonly spec: EnqueueSpec;
  readonly defaults: ReturnType<DefaultsOf>;
}

/**
 * Requests for runs as the engine takes them. Most calls give a payload and nothing else: what the task says is read once, and then
 * only payloads are looked at, each written as JSON once.
 */
export class RunSpecs {
  readonly #now: () => Instant;
  readonly #defaultsOf: DefaultsOf;
  readonly #bare = new WeakMap<object, BareTask>();

  /** `now` is the scheduler's clock: delays count from it. */
  constructor(now: () => Instant, defaultsOf: DefaultsOf) {
    this.#now = now;
    this.#defaultsOf = defaultsOf;
  }

  /** A promise only where something has to be waited for: thousands of calls come without. */
  read<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): EnqueueSpec | Promise<EnqueueSpec> {
    const bare = typeof task === "string" || !isEmpty(options) ? undefined : this.#bareOf(task);
    if (bare === undefined) return this.#readWhole(task, payload, options);
    const text = soundPayloadText(task, payload);
    return typeof text === "string" ? withPayload(bare, text) : text.then((sound) => withPayload(bare, sound));
  }

  async #readWhole<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): Promise<EnqueueSpec> {
    const request = await runRequest(task, payload, options);
    const spec = readRunCreate(request, { now: this.#now(), defaultsOf: this.#defaultsOf });
    if (typeof task !== "string" && isEmpty(options))
      this.#bare.set(task, { spec: { ...spec, payload: null }, defaults: this.#defaultsOf(task.name) });
    return spec;
  }

  /** Undefined: it was not read yet, or its workers say something else since. */
  #bareOf(task: Exclude<TaskReference<never>, string>): EnqueueSpec | undefined {
    const bare = this.#bare.get(task);
    return bare !== undefined && bare.defaults === this.#defaultsOf(task.name) ? bare.spec : undefined;
  }
}

function withPayload(bare: EnqueueSpec, text: string): EnqueueSpec {
  refuseUnsoundPayload(text);
  const payload: unknown = readsPayload(bare.policy) ? JSON.parse(text) : new JsonText(text);
  return { ...bare, payload };
}

function isEmpty(options: EnqueueOptions): boolean {
  for (const _ in options) return false;
  return true;
}
