import { beforeEach, describe, expect, it } from "vitest";
import { HeldShards } from "../../../src/cluster/shards.js";
import type { ShardView } from "../../../src/cluster/registry.js";

const view = (id: number, owner: string | null, epoch = 1, promisedTo = owner): ShardView => ({
  id,
  owner,
  epoch,
  promisedTo,
});

let held: HeldShards;

beforeEach(() => {
  held = new HeldShards();
});

describe("the shards that a node holds", () => {
  it("are those that the registry shows as owned by this node and promised to it", () => {
    held.adopt([view(1, "a"), view(2, "b"), view(3, null), view(4, "a", 1, "b"), view(5, "b", 1, "a")], "a");
    expect([...held.epochs]).toEqual([[1, 1]]);
    expect(held.ids).toEqual([1]);
  });

  it("are reported once, with the shards gained and lost since", () => {
    held.adopt([view(1, "a"), view(2, "a")], "a");
    expect(held.takeChange()).toEqual({
      gained: [
        { id: 1, epoch: 1 },
        { id: 2, epoch: 1 },
      ],
      lost: [],
    });
    expect(held.takeChange()).toEqual({ gained: [], lost: [] });
    held.lose([1]);
    held.gain([{ id: 3, epoch: 7 }]);
    expect(held.takeChange()).toEqual({ gained: [{ id: 3, epoch: 7 }], lost: [1] });
    held.clear();
    expect(held.takeChange()).toEqual({ gained: [], lost: [2, 3] });
  });

  it("count as lost and gained when they return under another epoch", () => {
    held.adopt([view(1, "a", 1)], "a");
    held.takeChange();
    held.adopt([view(1, "a", 3)], "a");
    expect(held.takeChange()).toEqual({ gained: [{ id: 1, epoch: 3 }], lost: [1] });
  });

  it("keep the same list until a shard moves", () => {
    const shown = [view(1, "a"), view(2, "a")];
    held.adopt(shown, "a");
    const { ids } = held;
    held.adopt(shown, "a");
    expect(held.ids).toBe(ids);
    held.lose([2]);
    expect(held.ids).toEqual([1]);
    expect(ids).toEqual([1, 2]);
  });

  it("are restored from the registry when it still shows a shard that was given up", () => {
    const shown = [view(1, "a"), view(2, "a")];
    held.adopt(shown, "a");
    held.takeChange();
    held.lose([2]);
    held.adopt(shown, "a");
    expect(held.ids).toEqual([1, 2]);
    expect(held.takeChange()).toEqual({ gained: [], lost: [] });
  });

  it("are not passed from an ended incarnation to the next", () => {
    const shown = [view(1, "a")];
    held.adopt(shown, "a");
    held.clear();
    held.adopt(shown, "b");
    expect(held.ids).toEqual([]);
  });
});
