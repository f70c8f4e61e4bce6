import type { MemoryCluster } from "../../../harness/memory-cluster.js";
import type { VirtualNode } from "./virtual-node.js";

/** The owner of each shard, and the nodes that believe they own it. Shards move by the same compare-and-set as in production. */
export class VirtualCluster {
  readonly #rows: MemoryCluster;
  readonly #start: () => VirtualNode;
  /** By place; null while the node of this place is down. */
  readonly nodes: (VirtualNode | null)[];
  /** Every epoch of every shard in order: the judge checks that they only grow. */
  readonly epochs: { readonly shard: number; readonly epoch: number }[] = [];

  constructor(rows: MemoryCluster, places: number, start: () => VirtualNode) {
    this.#rows = rows;
    this.#start = start;
    this.nodes = Array.from({ length: places }, () => null);
  }

  get up(): VirtualNode[] {
    return this.nodes.filter((node): node is VirtualNode => node !== null && node.isUp);
  }

  /** Starts the node of a place if it is down, distributes the free shards, and gives the node its share of all shards. */
  async start(place: number): Promise<void> {
    if (this.nodes[place]?.isUp === true) return;
    const node = this.#start();
    this.nodes[place] = node;
    await this.shareOut();
    const shards = (await this.#rows.shards.list()).map((row) => row.id);
    const share = shards.filter((shard) => shard % this.nodes.length === place);
    await this.move(node, share, true);
  }

  down(place: number): void {
    const node = this.nodes[place];
    if (node) node.isUp = false;
    this.nodes[place] = null;
  }

  /** Stops a node, and gives its shards to the others. */
  async stop(place: number): Promise<void> {
    const node = this.nodes[place];
    if (!node?.isUp || this.up.length === 1) return;
    this.down(place);
    await this.shareOut();
  }

  /** The nodes that are up take the shards that none of them owns. */
  async shareOut(): Promise<void> {
    const up = this.up;
    if (up.length === 0) return;
    const owners = new Set(up.map((node) => node.id));
    const free = (await this.#rows.shards.list()).filter((row) => row.owner === null || !owners.has(row.owner));
    for (const [index, node] of up.entries()) {
      const share = free.filter((_, nth) => nth % up.length === index);
      await this.move(
        node,
        share.map((row) => row.id),
        true,
      );
    }
  }

  /** Returns a function that notifies the other nodes; calls it at once if `isNotified`. */
  async move(to: VirtualNode, shards: readonly number[], isNotified: boolean): Promise<() => void> {
    const rows = await this.#rows.shards.list();
    const wanted = new Set(shards.map((shard) => shard % rows.length));
    const seen = rows.filter((row) => wanted.has(row.id) && row.owner !== to.id);
    const taken = await this.#rows.shards.take(to.id, seen);
    const gained = taken.map(({ id, epoch }) => ({ id, epoch }));
    for (const { id: shard, epoch } of gained) this.epochs.push({ shard, epoch });
    const others = this.up.filter((node) => node !== to);
    const notify = (): void => {
      for (const node of others) {
        const lost = gained.filter(({ id, epoch }) => (node.epochs.get(id) ?? epoch) < epoch).map(({ id }) => id);
        if (lost.length > 0) node.lose(lost);
      }
    };
    if (isNotified) notify();
    to.gain(gained);
    return notify;
  }
}
