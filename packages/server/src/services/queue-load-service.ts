import { systemTimers } from "@carillon/core";
import type { Engine } from "@carillon/engine";
import type { ExportLoads, QueueLoad } from "../metrics/metrics.js";
import type { NodeContext, Service } from "./service.js";

const intervalMs = 10_000;

/** Refreshes the metrics of queues on the elected node. */
export class QueueLoadService implements Service {
  readonly name = "load";
  readonly #context: NodeContext;
  readonly #engine: () => Engine;
  readonly #exportLoads: ExportLoads;
  #refreshing: Promise<void> = Promise.resolve();
  #timer: unknown = null;
  #isStopped = false;

  constructor(context: NodeContext, engine: () => Engine, exportLoads: ExportLoads) {
    this.#context = context;
    this.#engine = engine;
    this.#exportLoads = exportLoads;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    this.#refresh();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    systemTimers.clearTimeout(this.#timer);
    await this.#refreshing;
  }

  #refresh(): void {
    this.#refreshing = this.#read()
      .catch((error: unknown) =>
        this.#context.logger.debug({ err: error, component: this.name }, "the load of the queues could not be read"),
      )
      .finally(() => {
        if (!this.#isStopped) this.#timer = systemTimers.setTimeout(() => this.#refresh(), intervalMs);
      });
  }

  async #read(): Promise<void> {
    const engine = this.#engine();
    this.#exportLoads(engine.isElected ? await readLoads(engine) : null);
  }
}

/** Bounds the number of time series. */
const maxQueues = 200;

/** The load of each queue, of all namespaces. */
async function readLoads(engine: Pick<Engine, "namespaces" | "queues">) {
  const loads: QueueLoad[] = [];
  const { rows: namespaces } = await engine.namespaces.list({ pageSize: maxQueues });
  for (const { name: namespace } of namespaces) {
    if (loads.length >= maxQueues) return loads;
    const { rows: queues } = await engine.queues.list(namespace, { pageSize: maxQueues - loads.length });
    const names = queues.map(({ name }) => name);
    const stats = await engine.queues.statsOfMany(namespace, names);
    for (const queue of names) {
      const own = stats.get(queue);
      if (own !== undefined) loads.push({ namespace, queue, ...own });
    }
  }
  return loads;
}
