import { anyNamePattern, limits } from "@carillon/contract";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireCluster, wireShard, wireTask } from "./wire/catalogue.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type CatalogueHandlers = Pick<Handlers, "listTasks" | "getTask" | "getCluster" | "listClusterShards">;

const pattern = new RegExp(anyNamePattern);

export function catalogueHandlers({ engine }: ApiOptions): CatalogueHandlers {
  return {
    async listTasks({ query, namespace }) {
      const list = ["tasks", namespace];
      const page = await engine.listTasks(namespace, pageRequest(query, list, readName));
      return { status: 200, body: { tasks: page.rows.map(wireTask), next_page_token: nextPageToken(page, list) } };
    },
    async getTask({ params, namespace }) {
      const name = readName(params.name);
      const task = name === null ? null : await engine.getTask(namespace, name);
      if (task === null) throw notFound(`Nobody serves, names or ran a task ${JSON.stringify(params.name)}.`);
      return { status: 200, body: wireTask(task) };
    },
    async getCluster() {
      return { status: 200, body: wireCluster(await engine.cluster()) };
    },
    async listClusterShards() {
      const { shards } = await engine.cluster();
      return { status: 200, body: { shards: shards.map(wireShard) } };
    },
  };
}

function readName(text: string): string | null {
  return text.length <= limits.nameLength && pattern.test(text) ? text : null;
}
