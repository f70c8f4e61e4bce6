import { describe, expect, it } from "vitest";
import { FreedLocks } from "../../../src/cluster/detection/session-lock-monitor.js";

const row = (id: string, locked: boolean, heartbeat = "1", serverStart = "1") => ({
  id,
  locked,
  heartbeat,
  serverStart,
});
const me = row("me", true);
const at = (ms: number, tookMs = 0) => ({ asked: ms, answered: ms + tookMs });
const none = new Set<string>();

/** A watch that saw the lock of `a` held at 0 and free at 1000. */
function suspicious(): FreedLocks {
  const watch = new FreedLocks();
  watch.observe("me", [me, row("a", true)], at(0));
  watch.observe("me", [me, row("a", true)], at(500));
  expect(watch.observe("me", [me, row("a", false)], at(1_000))).toEqual(none);
  return watch;
}

describe("the watch for freed locks", () => {
  it("believes a lock that was seen held and stays free for half a second", () => {
    const watch = suspicious();
    expect(watch.nextLookMs(1_100)).toBe(400);
    expect(watch.observe("me", [me, row("a", false)], at(1_499))).toEqual(none);
    expect(watch.observe("me", [me, row("a", false)], at(1_500))).toEqual(new Set(["a"]));
    expect(watch.nextLookMs(1_500)).toBeNull();
  });

  it("does not count the time that an answer took", () => {
    const watch = suspicious();
    expect(watch.observe("me", [me, row("a", false)], at(1_200, 800))).toEqual(none);
  });

  it("believes nothing of a lock that it never saw held", () => {
    const watch = new FreedLocks();
    for (const ms of [0, 1_000, 2_000]) expect(watch.observe("me", [me, row("a", false)], at(ms))).toEqual(none);
    expect(watch.nextLookMs(2_000)).toBeNull();
  });

  it("forgets its suspicion when the lock is held again, or a heartbeat came", () => {
    const held = suspicious();
    held.observe("me", [me, row("a", true)], at(1_200));
    expect(held.observe("me", [me, row("a", false)], at(1_600))).toEqual(none);
    const beating = suspicious();
    expect(beating.observe("me", [me, row("a", false, "2")], at(1_600))).toEqual(none);
    expect(beating.observe("me", [me, row("a", false, "2")], at(3_000))).toEqual(none);
  });

  it("believes nothing when the server is another, or its own lock is gone", () => {
    const restarted = suspicious();
    const after = [row("me", true, "1", "2"), row("a", false, "1", "2")];
    for (const ms of [1_600, 2_200]) expect(restarted.observe("me", after, at(ms))).toEqual(none);
    const blind = suspicious();
    blind.observe("me", [row("me", false), row("a", false)], at(1_200));
    for (const ms of [1_600, 2_200]) expect(blind.observe("me", [me, row("a", false)], at(ms))).toEqual(none);
  });
});
