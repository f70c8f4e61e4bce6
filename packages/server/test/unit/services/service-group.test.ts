import { array, assert, asyncProperty, boolean, nat, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Service, ServiceGroup } from "../../../src/services/service.js";

/** A service that records its starts and stops, and fails where the test wants it. */
function recorder(journal: string[], name: string, breaks: { start?: Error; stop?: Error } = {}): Service {
  return {
    name,
    async start() {
      journal.push(`${name} starts`);
      await Promise.resolve();
      if (breaks.start) throw breaks.start;
      journal.push(`${name} up`);
    },
    async stop() {
      await Promise.resolve();
      journal.push(`${name} down`);
      if (breaks.stop) throw breaks.stop;
    },
  };
}

describe("ServiceGroup", () => {
  it("starts services in order and stops them in reverse", async () => {
    const journal: string[] = [];
    const group = new ServiceGroup("node", [recorder(journal, "a"), recorder(journal, "b")]);
    await group.start();
    await group.stop();
    expect(journal).toEqual(["a starts", "a up", "b starts", "b up", "b down", "a down"]);
  });

  it("a repeated start or stop has no effect", async () => {
    const journal: string[] = [];
    const group = new ServiceGroup("node", [recorder(journal, "a")]);
    await group.stop();
    await Promise.all([group.start(), group.start()]);
    await Promise.all([group.stop(), group.stop()]);
    expect(journal).toEqual(["a starts", "a up", "a down"]);
  });

  it("stops the started services when a later one fails to start, and throws its error", async () => {
    const journal: string[] = [];
    const group = new ServiceGroup("node", [
      recorder(journal, "a", { stop: new Error("also broken") }),
      recorder(journal, "b", { start: new Error("no database") }),
      recorder(journal, "c"),
    ]);
    await expect(group.start()).rejects.toThrow("no database");
    expect(journal).toEqual(["a starts", "a up", "b starts", "a down"]);
  });

  it("a stop ends a start in progress after the current service", async () => {
    const journal: string[] = [];
    const stops: Promise<void>[] = [];
    const first: Service = {
      ...recorder(journal, "a"),
      start: async () => {
        stops.push(group.stop());
      },
    };
    const group = new ServiceGroup("node", [first, recorder(journal, "b")]);
    await expect(group.start()).rejects.toMatchObject({ code: "shutting_down" });
    await Promise.all(stops);
    expect(journal).toEqual(["a down"]);
  });

  it("stops every service although some fail to stop, and reports the failures", async () => {
    const journal: string[] = [];
    const one = new Error("one");
    const two = new Error("two");
    const group = new ServiceGroup("node", [
      recorder(journal, "a", { stop: one }),
      recorder(journal, "b"),
      recorder(journal, "c", { stop: two }),
    ]);
    await group.start();
    await expect(group.stop()).rejects.toMatchObject({ errors: [two, one] });
    expect(journal.slice(-3)).toEqual(["c down", "b down", "a down"]);
    await expect(group.stop()).resolves.toBeUndefined();
  });

  it("any storm of starts and stops alternates each service, and the last call wins", async () => {
    await assert(
      asyncProperty(array(tuple(boolean(), nat(6)), { minLength: 1, maxLength: 20 }), async (calls) => {
        const journal: string[] = [];
        const names = ["a", "b", "c"];
        const group = new ServiceGroup(
          "node",
          names.map((name) => recorder(journal, name)),
        );
        const pending: Promise<void>[] = [];
        for (const [start, turns] of calls) {
          pending.push(start ? group.start() : group.stop());
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        }
        await Promise.allSettled(pending);
        const last = calls.at(-1)?.[0] === true;
        for (const name of names) {
          const own = journal.filter((line) => line === `${name} up` || line === `${name} down`);
          own.forEach((line, at) => expect(line).toBe(`${name} ${at % 2 === 0 ? "up" : "down"}`));
          expect(own.length % 2).toBe(last ? 1 : 0);
        }
      }),
    );
  });
});
