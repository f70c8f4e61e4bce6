import { describe, expect, it } from "vitest";
import { SessionLockMonitor } from "../../../src/cluster/detection/session-lock-monitor.js";

const row = (id: string, locked: boolean, heartbeat = "1", serverStart = "1") => ({
  id,
  locked,
  heartbeat,
  serverStart,
});
const me = row("me", true);
const at = (ms: number, tookMs = 0) => ({ asked: ms, answered: ms + tookMs });
const none = new Set<string>();

/** A monitor that saw the lock of `a` held at 0 and free at 1000. */
function suspecting(): SessionLockMonitor {
  const watch = new SessionLockMonitor();
  watch.observe("me", [me, row("a", true)], at(0));
  watch.observe("me", [me, row("a", true)], at(500));
  expect(watch.observe("me", [me, row("a", false)], at(1_000))).toEqual(none);
  return watch;
}

describe("the session lock monitor", () => {
  it("reports a node whose lock was seen held and then stays free for half a second", () => {
    const watch = suspecting();
    expect(watch.nextCheckMs(1_100)).toBe(400);
    expect(watch.observe("me", [me, row("a", false)], at(1_499))).toEqual(none);
    expect(watch.observe("me", [me, row("a", false)], at(1_500))).toEqual(new Set(["a"]));
    expect(watch.nextCheckMs(1_500)).toBeNull();
  });

  it("does not count the time between a request and its response", () => {
    const watch = suspecting();
    expect(watch.observe("me", [me, row("a", false)], at(1_200, 800))).toEqual(none);
  });

  it("ignores a lock that it never saw held", () => {
    const watch = new SessionLockMonitor();
    for (const ms of [0, 1_000, 2_000]) expect(watch.observe("me", [me, row("a", false)], at(ms))).toEqual(none);
    expect(watch.nextCheckMs(2_000)).toBeNull();
  });

  it("drops a suspicion when the lock is held again or the heartbeat changes", () => {
    const held = suspecting();
    held.observe("me", [me, row("a", true)], at(1_200));
    expect(held.observe("me", [me, row("a", false)], at(1_600))).toEqual(none);
    const beating = suspecting();
    expect(beating.observe("me", [me, row("a", false, "2")], at(1_600))).toEqual(none);
    expect(beating.observe("me", [me, row("a", false, "2")], at(3_000))).toEqual(none);
  });

  it("ignores free locks when the server restarted or its own lock is free", () => {
    const restarted = suspecting();
    const after = [row("me", true, "1", "2"), row("a", false, "1", "2")];
    for (const ms of [1_600, 2_200]) expect(restarted.observe("me", after, at(ms))).toEqual(none);
    const blind = suspecting();
    blind.observe("me", [row("me", false), row("a", false)], at(1_200));
    for (const ms of [1_600, 2_200]) expect(blind.observe("me", [me, row("a", false)], at(ms))).toEqual(none);
  });
});
