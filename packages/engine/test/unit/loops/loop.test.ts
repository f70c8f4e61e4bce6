import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/loops/loops.js";

/** Timers that fire when the test says so. */
function manualTimers() {
  const waiting = new Map<number, { callback: () => void; delayMs: number }>();
  let next = 1;
  return {
    waiting,
    setTimeout(callback: () => void, delayMs: number): unknown {
      waiting.set(next, { callback, delayMs });
      return next++;
    },
    clearTimeout(timer: unknown): void {
      waiting.delete(timer as number);
    },
    fire(): void {
      const [entry] = waiting;
      if (entry === undefined) throw new Error("no timer waits");
      waiting.delete(entry[0]);
      entry[1].callback();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a loop", () => {
  it("ticks at once, then after the time the tick asked for", async () => {
    const timers = manualTimers();
    let ticks = 0;
    const loop = new Loop({ tick: () => Promise.resolve((ticks += 1) * 100), timers, onError: () => undefined });
    loop.start();
    await settled();
    expect([ticks, [...timers.waiting.values()].map((timer) => timer.delayMs)]).toEqual([1, [100]]);
    timers.fire();
    await settled();
    expect([ticks, [...timers.waiting.values()].map((timer) => timer.delayMs)]).toEqual([2, [200]]);
    await loop.stop();
    expect(timers.waiting.size).toBe(0);
  });

  it("never runs two ticks at once, and a wake during a tick is followed by another", async () => {
    const timers = manualTimers();
    const release: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const tick = async (): Promise<number> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running -= 1;
      return 1_000;
    };
    const loop = new Loop({ tick, timers, onError: () => undefined });
    loop.start();
    loop.wake();
    loop.wake();
    release.shift()?.();
    await settled();
    expect([running, most, release.length]).toEqual([1, 1, 1]);
    const stopped = loop.stop();
    release.shift()?.();
    await stopped;
    expect(timers.waiting.size).toBe(0);
  });

  it("goes on after a tick that threw, with a pause", async () => {
    const timers = manualTimers();
    const errors: unknown[] = [];
    const loop = new Loop({
      tick: () => Promise.reject(new Error("once")),
      timers,
      onError: (e) => errors.push(e),
      pauseOnErrorMs: 7,
    });
    loop.start();
    await settled();
    expect(errors).toHaveLength(1);
    expect([...timers.waiting.values()].map((timer) => timer.delayMs)).toEqual([7]);
    await loop.stop();
  });
});
