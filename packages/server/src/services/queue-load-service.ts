import { systemTimers } from "@carillon/core";
import type { Engine } from "@carillon/engine";
import type { Service } from "./service.js";
import type { ShowLoads } from "../metrics/queue-metrics.js";
import { readLoads } from "../metrics/read-loads.js";
import type { NodeContext } from "./context.js";

const everyMs = 10_000;

/** Keeps the numbers of queues fresh on the node that is to show them. */
export class LoadService implements Service {
  readonly name = "load";
  readonly #context: NodeContext;
  readonly #engine: () => Engine;
  readonly #show: ShowLoads;
  #looking: Promise<void> = Promise.resolve();
  #timer: unknown = null;
  #isStopped = false;

  constructor(context: NodeContext, engine: () => Engine, show: ShowLoads) {
    this.#context = context;
    this.#engine = engine;
    this.#show = show;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    this.#look();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    systemTimers.clearTimeout(this.#timer);
    await this.#looking;
  }

  #look(): void {
    this.#looking = this.#read()
      .catch((error: unknown) => this.#context.logger.debug({ err: error, component: this.name }, "loads not read"))
      .finally(() => {
        if (!this.#isStopped) this.#timer = systemTimers.setTimeout(() => this.#look(), everyMs);
      });
  }

  async #read(): Promise<void> {
    const engine = this.#engine();
    this.#show(engine.isElected ? await readLoads(engine.api) : null);
  }
}
