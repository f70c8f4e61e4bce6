import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";

function recorded(clock: ManualClock) {
  const log: string[] = [];
  const note = (name: string) => () => {
    log.push(`${name}@${clock.now()}`);
  };
  return { log, note };
}

describe("ManualClock", () => {
  it("a manual clock stands still until it is advanced", () => {
    const clock = new ManualClock(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it("fires due timers in order, each at its own time", () => {
    const clock = new ManualClock(1_000);
    const { log, note } = recorded(clock);
    clock.setTimeout(note("c"), 300);
    clock.setTimeout(note("a"), 100);
    clock.setTimeout(note("b"), 100);
    clock.setTimeout(note("at once"), -5);
    clock.setTimeout(note("far"), 86_400_000);
    clock.advance(99);
    expect(log).toEqual(["at once@1000"]);
    clock.advance(201);
    expect(log.slice(1)).toEqual(["a@1100", "b@1100", "c@1300"]);
    clock.advance(86_400_000);
    expect(log.slice(4)).toEqual(["far@86401000"]);
    expect(clock.now()).toBe(86_401_300);
  });

  it("fires a timer that another timer sets, if it is due by the end", () => {
    const clock = new ManualClock();
    const { log, note } = recorded(clock);
    const everySecond = () => {
      note("tick")();
      clock.setTimeout(everySecond, 1_000);
    };
    clock.setTimeout(everySecond, 1_000);
    clock.advance(3_500);
    expect(log).toEqual(["tick@1000", "tick@2000", "tick@3000"]);
    expect(clock.pending).toBe(1);
  });

  it("does not fire a cleared timer, also one that a timer of the same instant cleared", () => {
    const clock = new ManualClock();
    const { log, note } = recorded(clock);
    const cleared = clock.setTimeout(note("cleared"), 10);
    clock.setTimeout(() => clock.clearTimeout(later), 20);
    const later = clock.setTimeout(note("later"), 20);
    clock.clearTimeout(cleared);
    clock.clearTimeout(undefined);
    clock.advance(100);
    expect(log).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("a jump moves the wall clock alone, and timers follow the monotonic one", () => {
    const clock = new ManualClock(1_000_000);
    const { log, note } = recorded(clock);
    clock.setTimeout(note("it"), 500);
    clock.jump(-3_600_000);
    expect(clock.monotonic()).toBe(0);
    clock.jump(3_599_000);
    clock.advance(499);
    expect(log).toEqual([]);
    clock.advance(1);
    expect(log).toEqual(["it@999500"]);
  });

  it("lets promises proceed between timers, so that a loop sets its next timer in time", async () => {
    const clock = new ManualClock();
    const { log, note } = recorded(clock);
    const sleep = (delayMs: number) => new Promise<void>((wake) => void clock.setTimeout(wake, delayMs));
    const loop = (async () => {
      for (let round = 0; round < 3; round++) {
        await sleep(100);
        note("round")();
      }
    })();
    await clock.advanceAsync(300);
    await loop;
    expect(log).toEqual(["round@100", "round@200", "round@300"]);
  });

  it("refuses to advance by a negative duration", () => {
    expect(() => new ManualClock().advance(-1)).toThrow(RangeError);
  });
});
