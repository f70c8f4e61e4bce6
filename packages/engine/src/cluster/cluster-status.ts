import type { NodeView, ShardView } from "@carillon/store";
import type { EngineContext } from "../context.js";

export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly shards: readonly ShardView[];
}

/** The nodes and shards of the cluster, as their rows show them. */
export class ClusterStatus {
  readonly #store: EngineContext["store"];

  constructor({ store }: Pick<EngineContext, "store">) {
    this.#store = store;
  }

  async get(): Promise<ClusterView> {
    const { catalogue } = this.#store;
    return { nodes: await catalogue.nodes(), shards: await catalogue.shards() };
  }
}
