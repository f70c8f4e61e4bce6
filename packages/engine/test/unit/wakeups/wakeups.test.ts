import { ManualClock } from "@carillon/core";
import type { Database } from "@carillon/store";
import { beforeEach, describe, expect, it } from "vitest";
import { Wakeups } from "../../../src/wakeups/wakeups.js";

/** LISTEN and NOTIFY between the nodes of a cluster. */
class Wire {
  readonly #listeners = new Map<string, ((payload: string) => void)[]>();

  node(): Pick<Database, "listen" | "notify"> {
    return {
      listen: (channel, onNotify, _onReconnect, onFirst) => {
        this.#listeners.set(channel, [...(this.#listeners.get(channel) ?? []), onNotify]);
        onFirst?.();
        return { stop: async () => undefined };
      },
      notify: (channel, hint) => {
        for (const payload of typeof hint === "string" ? [hint] : hint())
          for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
      },
    };
  }
}

const limitedLane = 9;
const ownedShard = 1;
const clock = new ManualClock(1_000_000);
let wire: Wire;
beforeEach(() => {
  wire = new Wire();
});

function node({ hasWorkers, address = null }: { hasWorkers: boolean; address?: string | null }) {
  const received: string[] = [];
  /** The requester of each notice of lanes. */
  const requesters: (string | null)[] = [];
  const wakeups = new Wakeups({
    database: wire.node(),
    timers: clock,
    now: () => clock.now(),
    ownsShard: (shard) => shard === ownedShard,
    ownShards: () => [ownedShard],
  });
  wakeups.requestAs({ gatewayId: "this node", address: () => address });
  wakeups.limitLanes({
    isLimited: (lanes) => lanes.includes(limitedLane),
    runsQueued: (lanes) => {
      const isLimited = lanes.includes(limitedLane);
      if (isLimited) received.push("limits");
      return isLimited;
    },
  });
  wakeups.on("lanes", ({ notices, requester }) => {
    received.push(...notices.map(({ lane, rank }) => `lane ${lane} from ${rank}`));
    requesters.push(requester);
  });
  wakeups.on("lanes.all", () => void received.push("all lanes"));
  for (const change of ["calendars", "windows", "queues", "backfills", "operations", "stops", "shards.moved"] as const)
    wakeups.on(change, () => void received.push(change));
  wakeups.on("shards.changed", (shards) => void received.push(`shards ${shards.join(" ")}`));
  wakeups.start();
  if (hasWorkers) wakeups.serveWorkers();
  return { wakeups, take: () => received.splice(0), requesters: () => requesters.splice(0) };
}
const run = (lane: number, rank: number) => ({ id: "x", lane, rank, namespaceId: 1 });

describe("wakeups for queued runs", () => {
  it("reach the nodes that serve workers, and leave a node without workers alone", () => {
    const [from, worker, other] = [
      node({ hasWorkers: false }),
      node({ hasWorkers: true }),
      node({ hasWorkers: false }),
    ];
    expect(worker.take()).toEqual(["all lanes"]);
    from.wakeups.runsQueued([run(1, 7), run(1, 5)]);
    from.wakeups.runsAdmitted([run(2, 3)]);
    expect(worker.take()).toEqual(["lane 1 from 5", "lane 2 from 3"]);
    expect(other.take()).toEqual([]);
  });

  it("reach every node where a lane has limits, because any of them may own the limit", () => {
    const [from, other] = [node({ hasWorkers: false }), node({ hasWorkers: false })];
    from.wakeups.runsQueued([run(limitedLane, 5)]);
    expect(other.take()).toEqual([`lane ${limitedLane} from 5`, "limits"]);
    expect(from.wakeups.noticeFor([run(limitedLane, 5)])?.channel).toBe("carillon_hint");
    expect(from.wakeups.noticeFor([run(1, 5)])).toEqual({ channel: "carillon_lane", payload: "lanes 1:5:1" });
  });

  it("are sent ahead for runs that are queued ahead of their time, and delivered at that time", () => {
    const [from, worker] = [node({ hasWorkers: false }), node({ hasWorkers: true })];
    worker.take();
    from.wakeups.runsPromoted([
      { ...run(1, 5), runAt: clock.now() },
      { ...run(1, 6), runAt: clock.now() + 500 },
    ]);
    expect(worker.take()).toEqual(["lane 1 from 5"]);
    clock.advance(499);
    expect(worker.take()).toEqual([]);
    clock.advance(1);
    expect(worker.take()).toEqual(["lane 1 from 6"]);
  });
});

describe("a node that takes slot offers for the runs that it stores", () => {
  const send = (notice: { channel: string; payload: string } | null): void => {
    if (notice !== null) wire.node().notify(notice.channel, notice.payload);
  };

  it("names its address behind the lanes", () => {
    const [here, worker] = [node({ hasWorkers: false, address: "x-1" }), node({ hasWorkers: true })];
    const notice = here.wakeups.noticeFor([run(1, 5), run(2, 6)]);
    expect(notice).toEqual({ channel: "carillon_lane", payload: "lanes 1:5:1,2:6:1 x-1" });
    worker.take();
    send(notice);
    expect(worker.take()).toEqual(["lane 1 from 5", "lane 2 from 6"]);
    expect(worker.requesters()).toEqual(["x-1"]);
  });

  it("names no address while it has none, as nodes did that knew no slot offers", () => {
    const [here, worker] = [node({ hasWorkers: false }), node({ hasWorkers: true })];
    send(here.wakeups.noticeFor([run(1, 5)]));
    send({ channel: "carillon_lane", payload: "lanes 1:4:1" });
    expect(worker.requesters()).toEqual([null, null]);
  });

  it("names no address with lanes that have limits, whose runs wait for their admission", () => {
    const [here, worker] = [node({ hasWorkers: false, address: "x-1" }), node({ hasWorkers: true })];
    const notice = here.wakeups.noticeFor([run(limitedLane, 5)]);
    expect(notice).toEqual({ channel: "carillon_hint", payload: `lanes ${limitedLane}:5:1` });
    send(notice);
    expect(worker.requesters()).toEqual([null]);
  });

  it("names itself to the workers of its own node for new runs, not for runs that are queued again", () => {
    const here = node({ hasWorkers: true, address: "x-1" });
    here.wakeups.runsQueued([run(1, 5)], "sent");
    here.wakeups.runsQueued([run(1, 5)], "batched");
    expect(here.requesters().slice(0, 2)).toEqual(["this node", "this node"]);
    here.wakeups.runsQueued([run(1, 5)], "immediate");
    expect(here.requesters().every((requester) => requester === null)).toBe(true);
  });

  it("names no address with runs that are queued one batch after another", () => {
    const [here, worker] = [node({ hasWorkers: false, address: "x-1" }), node({ hasWorkers: true })];
    here.wakeups.runsQueued([run(1, 5)], "batched");
    expect(worker.requesters()).toEqual([null]);
  });
});

describe("wakeups for changes", () => {
  it("reach this node, other nodes or both, as the caller says", () => {
    const [here, other] = [node({ hasWorkers: false }), node({ hasWorkers: false })];
    other.wakeups.publish("calendars", null);
    expect([here.take(), other.take()]).toEqual([[], ["calendars"]]);
    here.wakeups.broadcast("stops");
    // NOTIFY reaches its sender too.
    expect([here.take(), other.take()]).toEqual([["stops", "stops"], ["stops"]]);
    here.wakeups.announce("shards.moved");
    expect(other.take()).toEqual(["shards.moved"]);
  });

  it("of jobs reach the owners of their shards alone", () => {
    const [here, other] = [node({ hasWorkers: false }), node({ hasWorkers: false })];
    here.wakeups.jobsChanged([ownedShard, 7]);
    expect(here.take()).toEqual([`shards ${ownedShard}`, "shards "]);
    expect(other.take()).toEqual(["shards "]);
  });
});
