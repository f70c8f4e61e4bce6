import type { Database, Store } from "@carillon/store";
import { membershipOf } from "../../src/cluster/shards.js";
import { EngineContext } from "../../src/context.js";
import type { EngineEvent } from "../../src/events.js";
import type { EngineLimits } from "../../src/options.js";
import { Wakeups, type WakeupTopics } from "../../src/wakeups/wakeups.js";
import { hostPorts, newId } from "./store-harness.js";

interface Published {
  readonly topic: keyof WakeupTopics;
  readonly payload: unknown;
}

/** A node's context for the test of a component. Its loops are not started; emitted events and published wakeups are recorded. */
export type TestContext = EngineContext & { readonly emitted: EngineEvent[]; readonly published: Published[] };

export interface TestContextOptions extends Partial<Pick<EngineContext, "clock" | "now" | "timers" | "newId">> {
  /** Without one no statement can be run. */
  readonly database?: Database;
  /** Replaces parts of the store. */
  readonly store?: Partial<Store>;
  readonly limits?: Partial<EngineLimits>;
  /** The shards that the node owns; all of them by default. */
  readonly shards?: readonly number[];
}

const noDatabase = {
  schema: "carillon",
  clock: { now: Date.now },
  notify: () => undefined,
  listen: () => ({ stop: async () => undefined }),
} as unknown as Database;

export function testContext(over: TestContextOptions = {}): TestContext {
  const { database = noDatabase, store, limits = {}, shards, ...ports } = over;
  const emitted: EngineEvent[] = [];
  const published: Published[] = [];
  const context = new EngineContext({
    ...hostPorts,
    newId,
    database,
    limits,
    node: { name: "test", address: null, version: "0" },
    alone: true,
    onEvent: (event) => emitted.push(event),
  });
  const owned = shards ?? Array.from({ length: context.shardCount }, (_, shard) => shard);
  const membership = membershipOf(newId(), new Map(owned.map((shard) => [shard, 1])));
  context.followMembership(() => membership);
  context.wakeups.publish = (topic, payload) => {
    published.push({ topic, payload });
    Wakeups.prototype.publish.call(context.wakeups, topic, payload as never);
  };
  return Object.assign(context, ports, { store: { ...context.store, ...store }, emitted, published });
}
