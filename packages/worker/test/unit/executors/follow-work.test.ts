import { describe, expect, it } from "vitest";
import { followWork, type RemoteWork } from "../../../src/index.js";

/** Short timers fire at once. */
const timers = {
  setTimeout: (callback: () => void, delayMs: number): unknown => {
    if (delayMs < 1_000) queueMicrotask(callback);
    return null;
  },
  clearTimeout: (): void => undefined,
};

function workOf(polls: readonly (string | null | Error)[]): RemoteWork<string> & { stops: number } {
  const left = [...polls];
  return {
    stops: 0,
    begin: async () => undefined,
    async poll() {
      const next = left.shift() ?? null;
      if (next instanceof Error) throw next;
      return next;
    },
    async stop() {
      this.stops += 1;
    },
  };
}

describe("remote work", () => {
  it("refuses to follow work without the time between polls", async () => {
    const { signal } = new AbortController();
    await expect(followWork(workOf(["done"]), { signal, timers, pollEvery: 5 } as never)).rejects.toMatchObject({
      code: "bad_request",
      items: [
        { pointer: "/everyMs", code: "field_missing" },
        { pointer: "/pollEvery", code: "unknown_field" },
      ],
    });
  });

  const follow = (work: RemoteWork<string>, signal = new AbortController().signal) =>
    followWork(work, { signal, timers, everyMs: 1 });
  const away = new Error("away");

  it("is polled until it is over, also when some polls fail", async () => {
    expect(await follow(workOf([null, away, null, away, away, "done"]))).toBe("done");
  });

  it("is left running when every poll fails, because the next attempt adopts it", async () => {
    const work = workOf(Array.from({ length: 10 }, () => away));
    await expect(follow(work)).rejects.toBe(away);
    expect(work.stops).toBe(0);
  });

  it("is stopped once when the run must stop", async () => {
    const controller = new AbortController();
    const work = workOf([null]);
    const following = follow(work, controller.signal);
    controller.abort(new Error("stop now"));
    await expect(following).rejects.toThrow("stop now");
    expect(work.stops).toBe(1);
  });
});
