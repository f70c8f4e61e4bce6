import { systemClock, systemRandom, systemRandomBytes, systemTimers } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

describe("the clock, timers and random numbers of the host", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 5_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("reads both clocks of the host", () => {
    const before = systemClock.monotonic();
    vi.advanceTimersByTime(250);
    expect(systemClock.now()).toBe(5_250);
    expect(systemClock.monotonic() - before).toBe(250);
  });

  it("fires a timer once after any delay, also one that is too long for the host", () => {
    const fired = vi.fn<() => void>();
    const delayMs = 3 * 2 ** 31;
    systemTimers.setTimeout(fired, delayMs);
    vi.advanceTimersByTime(delayMs - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("clears a timer at any stage of a long delay, and ignores an absent one", () => {
    const fired = vi.fn<() => void>();
    const timer = systemTimers.setTimeout(fired, 3 * 2 ** 31);
    vi.advanceTimersByTime(2 ** 31 + 5);
    systemTimers.clearTimeout(timer);
    systemTimers.clearTimeout(undefined);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(3 * 2 ** 31);
    expect(fired).not.toHaveBeenCalled();
  });

  it("returns random numbers in [0, 1) and random bytes of the requested size", () => {
    const number = systemRandom();
    expect(number >= 0 && number < 1).toBe(true);
    expect(systemRandomBytes(16)).toHaveLength(16);
    expect(systemRandomBytes(16)).not.toEqual(systemRandomBytes(16));
  });
});
