import type { NodeStore } from "@carillon/store";

/**
 * Changes of the meaning of stored rows, with the level at which each is used. A node of a version that does not know a feature would
 * misread its rows, so a cluster uses a level only when every node supports it. A new feature gets the next number.
 *
 * queue_ahead: a queued run may have a time up to a second ahead, and claims take it only from then on.
 */
export const features = { queue_ahead: 1 } as const;
export type Feature = keyof typeof features;

/** The level that this version supports. */
export const supportedLevel = Math.max(...Object.values(features));

/**
 * The level that the cluster uses, as this node last read it. It never falls while a node is alive, and no node below it can join (the
 * trigger node_level), so an old value is safe: it only leaves features unused.
 */
export class ClusterLevel {
  readonly #nodes: Pick<NodeStore, "level" | "raiseLevel">;
  #inUse = 0;

  constructor(nodes: Pick<NodeStore, "level" | "raiseLevel">) {
    this.#nodes = nodes;
  }

  /** Whether rows of this feature may be written. */
  readonly has = (feature: Feature): boolean => this.#inUse >= features[feature];

  /** Called with each pass of the coordinator, until every feature that this version knows is in use. */
  async refresh(): Promise<void> {
    if (this.#inUse >= supportedLevel) return;
    const { inUse, supported } = await this.#nodes.level();
    this.#inUse = inUse < supported ? await this.#nodes.raiseLevel() : inUse;
  }
}
