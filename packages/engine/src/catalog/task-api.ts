import type { Store } from "@carillon/store";
import type { InNamespace } from "../context.js";
import type { TaskBook } from "./task-cache.js";
import type { Catalogue } from "./tasks.js";

export function catalogueApi(
  { catalogue }: Pick<Store, "catalogue">,
  within: InNamespace,
  tasks: Pick<TaskBook, "defaultsOf">,
): Catalogue {
  return {
    listTasks: (namespace, { pageSize, after }) =>
      within(namespace, async (id) => {
        const found = await catalogue.tasks(id, { limit: pageSize + 1, ...(after !== undefined && { after }) });
        const rows = found.slice(0, pageSize);
        return { rows, next: found.length > pageSize ? (rows.at(-1)?.name ?? null) : null };
      }),
    getTask: (namespace, name) =>
      within(namespace, async (id) => (await catalogue.tasks(id, { limit: 1, only: name }))[0] ?? null),
    defaultsOf: (namespace, task) => tasks.defaultsOf(namespace, task),
    cluster: async () => ({ nodes: await catalogue.nodes(), shards: await catalogue.shards() }),
  };
}
