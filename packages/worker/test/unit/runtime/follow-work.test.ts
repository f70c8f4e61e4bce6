import { describe, expect, it } from "vitest";
import { followWork, type RemoteWork } from "../../../src/index.js";

/** Time passes as soon as somebody waits for it. */
const timers = {
  setTimeout: (callback: () => void, delayMs: number): unknown => {
    if (delayMs < 1_000) queueMicrotask(callback);
    return null;
  },
  clearTimeout: (): void => undefined,
};

function workOf(looks: readonly (string | null | Error)[]): RemoteWork<string> & { stops: number } {
  const left = [...looks];
  return {
    stops: 0,
    begin: async () => undefined,
    async look() {
      const next = left.shift() ?? null;
      if (next instanceof Error) throw next;
      return next;
    },
    async stop() {
      this.stops += 1;
    },
  };
}

describe("work that another system does", () => {
  const follow = (work: RemoteWork<string>, signal = new AbortController().signal) =>
    followWork(work, { signal, timers, everyMs: 1 });
  const away = new Error("away");

  it("is looked at until it is over, also when some looks fail", async () => {
    expect(await follow(workOf([null, away, null, away, away, "done"]))).toBe("done");
  });

  it("is given up when every look fails, and goes on: the next attempt deals with it", async () => {
    const work = workOf(Array.from({ length: 10 }, () => away));
    await expect(follow(work)).rejects.toBe(away);
    expect(work.stops).toBe(0);
  });

  it("is ended once when the run is to stop", async () => {
    const controller = new AbortController();
    const work = workOf([null]);
    const following = follow(work, controller.signal);
    controller.abort(new Error("stop now"));
    await expect(following).rejects.toThrow("stop now");
    expect(work.stops).toBe(1);
  });
});
