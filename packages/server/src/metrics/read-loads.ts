import type { Namespaces, Queues } from "@carillon/engine";
import type { QueueLoad } from "./load-metrics.js";

/** More queues than this would be more time series than anybody looks at. */
const mostQueues = 200;

/** What waits and works in each queue, of all namespaces. */
export async function readLoads(engine: Pick<Namespaces & Queues, "listNamespaces" | "listQueues" | "queueStats">) {
  const loads: QueueLoad[] = [];
  const { rows: namespaces } = await engine.listNamespaces({ pageSize: mostQueues });
  for (const { name: namespace } of namespaces) {
    const { rows: queues } = await engine.listQueues(namespace, { pageSize: mostQueues });
    for (const { name: queue } of queues) {
      if (loads.length >= mostQueues) return loads;
      const stats = await engine.queueStats(namespace, queue);
      if (stats !== null) loads.push({ namespace, queue, ...stats });
    }
  }
  return loads;
}
