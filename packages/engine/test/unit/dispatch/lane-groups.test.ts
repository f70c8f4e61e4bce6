import { describe, expect, it } from "vitest";
import { LaneBounds } from "../../../src/dispatch/claims/lane-bounds.js";
import { LaneGroups } from "../../../src/dispatch/claims/lane-groups.js";
import { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";
import type { Lane, LaneName, LaneStore } from "@carillon/store";

/** Lanes in memory; answers come when the test lets them. */
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

function made(): { groups: LaneGroups; bounds: LaneBounds; lanes: Lanes } {
  const lanes = new Lanes();
  const bounds = new LaneBounds(1_000);
  return {
    lanes,
    bounds,
    groups: new LaneGroups({ lanes, bounds, queues: { edition: 0, inUse: () => [] }, weightOf: () => 1 }),
  };
}

const session = (id = "s"): WorkerSession =>
  new WorkerSession({
    id,
    namespaceId: 1,
    slots: 1,
    ahead: 0,
    doubtMs: 0,
    deliver: () => undefined,
    onStop: () => undefined,
    onDrain: () => undefined,
    onLost: () => undefined,
    isHeard: () => true,
  });

const email = { namespaceIds: [1], queues: ["email"], tasks: ["send"] };
const all = { namespaceIds: [1], queues: ["*"], tasks: ["send"] };

describe("groups of lanes", () => {
  it("serve workers that can do the same together, and go with the last of them", async () => {
    const { groups, bounds } = made();
    const [a, b] = [session(), session()];
    await groups.join(email, a);
    await groups.join({ ...email }, b);
    expect(groups.size).toBe(1);
    groups.leave(a);
    expect([groups.size, bounds.size]).toEqual([1, 3]);
    groups.leave(b);
    expect([groups.size, bounds.size]).toEqual([0, 0]);
  });

  it("are made once by workers that come together", async () => {
    const { groups } = made();
    await Promise.all(["a", "b", "c"].map((id) => groups.join(email, session(id))));
    expect([...groups.values()].map((group) => group.sessions.size)).toEqual([3]);
  });

  it("that went while new lanes were looked for leave nothing behind", async () => {
    const { groups, bounds, lanes } = made();
    const worker = session();
    await lanes.ensure([{ queue: "q", task: "send" }]);
    await groups.join(all, worker);
    let open = (): void => undefined;
    lanes.gate = new Promise((resolve) => (open = resolve));
    const looked = groups.look();
    groups.leave(worker);
    open();
    await looked;
    expect([groups.size, bounds.size]).toEqual([0, 0]);
  });

  it("that serve every queue find those that came later", async () => {
    const { groups, bounds, lanes } = made();
    await groups.join(all, session());
    expect(bounds.size).toBe(0);
    await lanes.ensure([{ queue: "new", task: "send" }]);
    expect(groups.isNew(1)).toBe(true);
    await groups.look();
    expect([bounds.size, groups.isNew(1)]).toEqual([1, false]);
  });

  it("keep nothing of a worker that could not join all of them", async () => {
    const { groups, bounds, lanes } = made();
    const ensure = lanes.ensure.bind(lanes);
    lanes.ensure = async (names) => {
      if (names.some(({ task }) => task === "render")) throw new Error("the database is away");
      return ensure(names);
    };
    const joining = groups.join({ ...email, tasks: ["send", "render"], weights: new Map([["render", 2]]) }, session());
    await expect(joining).rejects.toThrow("away");
    expect([groups.size, bounds.size]).toEqual([0, 0]);
  });
});
