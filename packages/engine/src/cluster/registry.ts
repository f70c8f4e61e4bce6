import type { DurationMs } from "@carillon/core";
import type { HeldShard, NodeReport } from "@carillon/store";
import type { OnEngineEvent } from "../events.js";

export interface Member {
  readonly id: string;
  readonly name: string;
  /** false: its clock is off, and it leaves the shards to the others. */
  readonly takesShards: boolean;
}

/** A shard as the registry shows it to one node. */
export interface ShardView {
  readonly id: number;
  readonly epoch: number;
  /** The node that passes the fence in the database; null: the shard is free. */
  readonly owner: string | null;
  /** The node to which etcd promised the shard; without etcd, the owner. */
  readonly promisedTo: string | null;
}

/** Stores membership and ownership. The rules of sharing (ClusterMember) are the same over each registry. */
export interface Registry {
  announce(nodeId: string, report: NodeReport): Promise<void>;
  /** false: this incarnation was declared dead. */
  renew(nodeId: string, report: NodeReport): Promise<boolean>;
  /** The same array until a shard moves. */
  shards(): Promise<readonly ShardView[]>;
  /** Removes dead nodes; returns the live ones, this node included. */
  members(nodeId: string): Promise<Member[]>;
  /** Returns only the shards that this node got, with their new epochs. */
  take(nodeId: string, seen: readonly HeldShard[]): Promise<HeldShard[]>;
  drop(nodeId: string, shards: readonly number[]): Promise<void>;
  leave(nodeId: string): Promise<void>;
  /** A pass failed: earlier observations prove nothing any more. */
  forget(): void;
  /** After how long a suspected death can be confirmed; null: there is none. */
  readonly nextCheckMs: DurationMs | null;
  /** When this node last saw a new heartbeat of another node, on its monotonic clock. */
  lastHeartbeatAt(nodeId: string): DurationMs | undefined;
}

/** Emits an event for each node that joined or left since the previous list of members. */
export class MemberChanges {
  readonly #onEvent: OnEngineEvent;
  #names: Map<string, string> | null = null;

  constructor(onEvent: OnEngineEvent) {
    this.#onEvent = onEvent;
  }

  update(members: readonly { id: string; name: string }[], own: string): void {
    const before = this.#names;
    this.#names = new Map(members.filter(({ id }) => id !== own).map(({ id, name }) => [id, name]));
    if (before === null) return;
    for (const [nodeId, name] of this.#names) {
      if (!before.has(nodeId)) this.#onEvent({ type: "node.joined", nodeId, name });
    }
    for (const [nodeId, name] of before) {
      if (!this.#names.has(nodeId)) this.#onEvent({ type: "node.left", nodeId, name });
    }
  }

  /** For a node that this node declared dead: its event has been emitted already. */
  forget(nodeId: string): void {
    this.#names?.delete(nodeId);
  }
}
