import type { Namespaces, Queues } from "@carillon/engine";
import type { QueueLoad } from "./queue-metrics.js";

/** More queues than this would be more time series than anybody looks at. */
const mostQueues = 200;

/** What waits and works in each queue, of all namespaces. */
export async function readLoads(engine: Pick<Namespaces & Queues, "listNamespaces" | "listQueues" | "manyQueueStats">) {
  const loads: QueueLoad[] = [];
  const { rows: namespaces } = await engine.listNamespaces({ pageSize: mostQueues });
  for (const { name: namespace } of namespaces) {
    if (loads.length >= mostQueues) return loads;
    const { rows: queues } = await engine.listQueues(namespace, { pageSize: mostQueues - loads.length });
    const names = queues.map(({ name }) => name);
    const stats = await engine.manyQueueStats(namespace, names);
    for (const queue of names) {
      const own = stats.get(queue);
      if (own !== undefined) loads.push({ namespace, queue, ...own });
    }
  }
  return loads;
}
