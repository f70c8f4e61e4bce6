import type { Catalogue } from "../catalog/tasks.js";
import type { EngineStore } from "./engine-store.js";
import { withinNamespace } from "./engine-api.js";

export function catalogueApi(store: Pick<EngineStore, "catalogue" | "namespaces" | "taskBook">): Catalogue {
  const { catalogue, namespaces, taskBook } = store;
  const within = withinNamespace(namespaces);
  return {
    listTasks: (namespace, { pageSize, after }) =>
      within(namespace, async (id) => {
        const found = await catalogue.tasks(id, { limit: pageSize + 1, ...(after !== undefined && { after }) });
        const rows = found.slice(0, pageSize);
        return { rows, next: found.length > pageSize ? (rows.at(-1)?.name ?? null) : null };
      }),
    getTask: (namespace, name) =>
      within(namespace, async (id) => (await catalogue.tasks(id, { limit: 1, only: name }))[0] ?? null),
    defaultsOf: (namespace, task) => taskBook.defaultsOf(namespace, task),
    cluster: async () => ({ nodes: await catalogue.nodes(), shards: await catalogue.shards() }),
  };
}
