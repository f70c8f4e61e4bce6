import { describe, expect, it } from "vitest";
import { LaneCursors } from "../../../src/dispatch/claims/lane-cursors.js";
import { LaneGroups } from "../../../src/dispatch/claims/lane-groups.js";
import { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";
import type { Lane, LaneName, LaneStore } from "@carillon/store";

/** Lanes in memory; reads are answered when the gate resolves. */
class Lanes implements LaneStore {
  readonly #lanes: Lane[] = [];
  gate: Promise<void> = Promise.resolve();

  async ensure(names: readonly LaneName[]): Promise<number[]> {
    await this.gate;
    return names.map((name) => {
      const known = this.known(name);
      if (known !== null) return known;
      this.#lanes.push({ kind: "plain", requires: "", ...name, id: this.#lanes.length + 1 });
      return this.#lanes.length;
    });
  }

  known({ queue, task, kind = "plain" }: LaneName): number | null {
    return this.#lanes.find((lane) => lane.queue === queue && lane.task === task && lane.kind === kind)?.id ?? null;
  }

  get(id: number): Lane | null {
    return this.#lanes[id - 1] ?? null;
  }

  async list(): Promise<readonly Lane[]> {
    await this.gate;
    return this.#lanes;
  }
}

function setUp(): { groups: LaneGroups; cursors: LaneCursors; lanes: Lanes } {
  const lanes = new Lanes();
  const cursors = new LaneCursors(1_000);
  const queues = { edition: 0, inUse: () => [] };
  const groups = new LaneGroups({ lanes, cursors, queues, weightOf: () => 1, fullScanIntervalMs: 1_000 });
  return { lanes, cursors, groups };
}

const session = (id = "s"): WorkerSession =>
  new WorkerSession({
    id,
    namespaceId: 1,
    slots: 1,
    ahead: 0,
    unconfirmedMs: 0,
    deliver: () => undefined,
    onStop: () => undefined,
    onDrain: () => undefined,
    onLost: () => undefined,
    isConnected: () => true,
  });

const email = { namespaceIds: [1], queues: ["email"], tasks: ["send"] };
const all = { namespaceIds: [1], queues: ["*"], tasks: ["send"] };

describe("lane groups", () => {
  it("serve workers with the same skills together, and end with the last of them", async () => {
    const { groups, cursors } = setUp();
    const [a, b] = [session(), session()];
    await groups.join(email, a);
    await groups.join({ ...email }, b);
    expect(groups.size).toBe(1);
    groups.leave(a);
    expect([groups.size, cursors.size]).toEqual([1, 3]);
    groups.leave(b);
    expect([groups.size, cursors.size]).toEqual([0, 0]);
  });

  it("are made once by workers that join at the same time", async () => {
    const { groups } = setUp();
    await Promise.all(["a", "b", "c"].map((id) => groups.join(email, session(id))));
    expect([...groups.values()].map((group) => group.sessions.size)).toEqual([3]);
  });

  it("leave no cursor behind when they end during a scan for new lanes", async () => {
    const { groups, cursors, lanes } = setUp();
    const worker = session();
    await lanes.ensure([{ queue: "q", task: "send" }]);
    await groups.join(all, worker);
    let open = (): void => undefined;
    lanes.gate = new Promise((resolve) => (open = resolve));
    const scanned = groups.scan();
    groups.leave(worker);
    open();
    await scanned;
    expect([groups.size, cursors.size]).toEqual([0, 0]);
  });

  it("add lanes of new queues when they serve every queue", async () => {
    const { groups, cursors, lanes } = setUp();
    await groups.join(all, session());
    expect(cursors.size).toBe(0);
    await lanes.ensure([{ queue: "new", task: "send" }]);
    expect(groups.isNew(1)).toBe(true);
    await groups.scan();
    expect([cursors.size, groups.isNew(1)]).toEqual([1, false]);
  });

  it("keep nothing of a worker that could not join all of them", async () => {
    const { groups, cursors, lanes } = setUp();
    const ensure = lanes.ensure.bind(lanes);
    lanes.ensure = async (names) => {
      if (names.some(({ task }) => task === "render")) throw new Error("the database is away");
      return ensure(names);
    };
    const joining = groups.join({ ...email, tasks: ["send", "render"], weights: new Map([["render", 2]]) }, session());
    await expect(joining).rejects.toThrow("away");
    expect([groups.size, cursors.size]).toEqual([0, 0]);
  });
});
