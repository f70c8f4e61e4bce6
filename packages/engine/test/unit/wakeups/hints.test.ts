import { ManualClock } from "@carillon/core";
import { beforeEach, describe, expect, it } from "vitest";
import { Hints } from "../../../src/wakeups/wakeups.js";
import type { Database } from "@carillon/store";

/** The nodes of a cluster and what they hear of each other. */
class Wire {
  readonly #heard = new Map<string, ((payload: string) => void)[]>();

  node(): Pick<Database, "listen" | "notify"> {
    return {
      listen: (channel, onNotify, _onReconnect, onFirst) => {
        this.#heard.set(channel, [...(this.#heard.get(channel) ?? []), onNotify]);
        onFirst?.();
        return { stop: async () => undefined };
      },
      notify: (channel, hint) => {
        for (const payload of typeof hint === "string" ? [hint] : hint())
          for (const hear of this.#heard.get(channel) ?? []) hear(payload);
      },
    };
  }
}

const limitedLane = 9;
const clock = new ManualClock(1_000_000);
let wire: Wire;
beforeEach(() => {
  wire = new Wire();
});

function node({ hasWorkers, address = null }: { hasWorkers: boolean; address?: string | null }) {
  const told: string[] = [];
  /** Who would take an offer for the runs that were told of, each time. */
  const from: (string | null | undefined)[] = [];
  const never = (): never => {
    throw new Error("nobody asked for this");
  };
  const hints = new Hints({
    database: wire.node(),
    address: () => address,
    gateway: () => ({
      id: "this node",
      hint: (lanes, by) => {
        told.push(...lanes.map(({ lane, rank }) => `lane ${lane} from ${rank}`));
        from.push(by);
      },
      hintAll: () => void told.push("all lanes"),
    }),
    areLimited: (lanes) => lanes.includes(limitedLane),
    hintLimits: (lanes) => {
      const isLimited = lanes.includes(limitedLane);
      if (isLimited) told.push("limits");
      return isLimited;
    },
    scheduler: never,
    passOnStops: never,
    wakeScheduler: never,
    wakeCoordinator: never,
    wakeCalendars: never,
    wakeBackfills: never,
    wakeOperations: never,
    wakeQueues: never,
    membership: never,
    timers: clock,
    now: () => clock.now(),
  });
  hints.start();
  if (hasWorkers) hints.serve();
  return { hints, take: () => told.splice(0), from: () => from.splice(0) };
}
const run = (lane: number, rank: number) => ({ id: "x", lane, rank, namespaceId: 1 });

describe("nodes that tell each other of runs", () => {
  it("are told of those that their workers may get; a node without workers is left alone", () => {
    const [from, worker, other] = [
      node({ hasWorkers: false }),
      node({ hasWorkers: true }),
      node({ hasWorkers: false }),
    ];
    expect(worker.take()).toEqual(["all lanes"]);
    from.hints.queued([run(1, 7), run(1, 5)]);
    from.hints.admitted([run(2, 3)]);
    expect(worker.take()).toEqual(["lane 1 from 5", "lane 2 from 3"]);
    expect(other.take()).toEqual([]);
  });

  it("are all told of lanes with limits: one of them looks after these", () => {
    const [from, other] = [node({ hasWorkers: false }), node({ hasWorkers: false })];
    from.hints.queued([run(limitedLane, 5)]);
    expect(other.take()).toEqual([`lane ${limitedLane} from 5`, "limits"]);
    expect(from.hints.noticeOf([run(limitedLane, 5)])?.channel).toBe("carillon_hint");
    expect(from.hints.noticeOf([run(1, 5)])).toEqual({ channel: "carillon_lane", payload: "lanes 1:5:1" });
  });

  it("are told ahead of runs that are queued ahead of their time, and look when it has come", () => {
    const [from, worker] = [node({ hasWorkers: false }), node({ hasWorkers: true })];
    worker.take();
    from.hints.promoted([
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

describe("who stores runs and takes offers of workers", () => {
  const send = (notice: { channel: string; payload: string } | null): void => {
    if (notice !== null) wire.node().notify(notice.channel, notice.payload);
  };

  it("says where it is reached, behind the lanes", () => {
    const [here, worker] = [node({ hasWorkers: false, address: "x-1" }), node({ hasWorkers: true })];
    const notice = here.hints.noticeOf([run(1, 5), run(2, 6)]);
    expect(notice).toEqual({ channel: "carillon_lane", payload: "lanes 1:5:1,2:6:1 x-1" });
    worker.take();
    send(notice);
    expect(worker.take()).toEqual(["lane 1 from 5", "lane 2 from 6"]);
    expect(worker.from()).toEqual(["x-1"]);
  });

  it("says nothing of it while it is reached nowhere, as nodes did that knew nothing of offers", () => {
    const [here, worker] = [node({ hasWorkers: false }), node({ hasWorkers: true })];
    send(here.hints.noticeOf([run(1, 5)]));
    send({ channel: "carillon_lane", payload: "lanes 1:4:1" });
    expect(worker.from()).toEqual([null, null]);
  });

  it("says nothing of it with lanes that have limits: these go by their admission", () => {
    const [here, worker] = [node({ hasWorkers: false, address: "x-1" }), node({ hasWorkers: true })];
    const notice = here.hints.noticeOf([run(limitedLane, 5)]);
    expect(notice).toEqual({ channel: "carillon_hint", payload: `lanes ${limitedLane}:5:1` });
    send(notice);
    expect(worker.from()).toEqual([null]);
  });

  it("names itself to the workers of its own node, unless the runs are old ones that are queued again", () => {
    const here = node({ hasWorkers: true, address: "x-1" });
    here.hints.queued([run(1, 5)], "done");
    here.hints.queued([run(1, 5)], "soon");
    expect(here.from().slice(0, 2)).toEqual(["this node", "this node"]);
    here.hints.queued([run(1, 5)], "now");
    expect(here.from().every((by) => by === null)).toBe(true);
  });

  it("says nothing of it with runs that are queued one batch after another", () => {
    const [here, worker] = [node({ hasWorkers: false, address: "x-1" }), node({ hasWorkers: true })];
    here.hints.queued([run(1, 5)], "soon");
    expect(worker.from()).toEqual([null]);
  });
});
