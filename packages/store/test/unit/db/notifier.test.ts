import { describe, expect, it } from "vitest";
import { Notifier, type NotifierPorts } from "../../../src/db/listen-notify.js";
import type { DatabaseEvent } from "../../../src/db/options.js";
import type { Queryable, QueryResult, SqlText } from "../../../src/db/queryable.js";
import { settled } from "./passing-time.js";

class HeldTarget implements Queryable {
  readonly sent: unknown[] = [];
  #release: (() => void) | undefined;
  failure: Error | undefined;

  async query<Row extends object>(_statement: SqlText, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    this.sent.push(values);
    await new Promise<void>((resolve) => (this.#release = resolve));
    if (this.failure !== undefined) throw this.failure;
    return { rows: [], rowCount: 0 };
  }

  async release(): Promise<void> {
    this.#release?.();
    await settled();
  }
}

const ports: NotifierPorts = {
  onEvent: () => undefined,
  soon: (work) => work(),
  rest: () => Promise.resolve(),
};

describe("Notifier", () => {
  it("sends at the end of the turn, so that runs that become claimable together need one statement", async () => {
    const target = new HeldTarget();
    const turn: (() => void)[] = [];
    const notifier = new Notifier(target, { ...ports, soon: (work) => turn.push(work) });
    for (const payload of ["a", "b"]) notifier.send("x", payload);
    notifier.send("x", () => []);
    expect(target.sent).toEqual([]);
    for (const work of turn) work();
    await target.release();
    expect(target.sent).toEqual([
      [
        ["x", "x"],
        ["a", "b"],
      ],
    ]);
  });

  it("sends at once, then all hints that were added meanwhile in one statement, equal hints once", async () => {
    const target = new HeldTarget();
    const notifier = new Notifier(target, ports);
    for (const payload of ["a", "b", "b", "c", "b"]) notifier.send("x", payload);
    notifier.send("y", "b");
    await target.release();
    await target.release();
    expect(target.sent).toEqual([
      [["x"], ["a"]],
      [
        ["x", "x", "y"],
        ["b", "c", "b"],
      ],
    ]);
  });

  it("collects hints that can wait until the pause is over", async () => {
    const target = new HeldTarget();
    const resting: (() => void)[] = [];
    const rest = () => new Promise<void>((resolve) => resting.push(resolve));
    const notifier = new Notifier(target, { ...ports, rest });
    notifier.send("x", "a", true);
    await target.release();
    for (const payload of ["b", "c"]) notifier.send("x", payload, true);
    await settled();
    expect(target.sent).toEqual([[["x"], ["a"]]]);
    resting.shift()?.();
    await settled();
    expect(target.sent.slice(1)).toEqual([
      [
        ["x", "x"],
        ["b", "c"],
      ],
    ]);
  });

  it.each(["during the pause", "while a statement is in progress"])(
    "does not delay an urgent hint that is added %s",
    async (when) => {
      const target = new HeldTarget();
      const rest = (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          else signal.addEventListener("abort", () => resolve());
        });
      const notifier = new Notifier(target, { ...ports, rest });
      notifier.send("x", "a", true);
      if (when === "during the rest") await target.release();
      notifier.send("x", "b");
      if (when !== "during the rest") await target.release();
      await settled();
      expect(target.sent).toEqual([
        [["x"], ["a"]],
        [["x"], ["b"]],
      ]);
    },
  );

  it("calls the function of a hint when it is sent, and once", async () => {
    const target = new HeldTarget();
    const notifier = new Notifier(target, ports);
    let lowest = 9;
    const gathering = () => [String(lowest)];
    notifier.send("x", "a");
    notifier.send("x", gathering);
    lowest = 3;
    notifier.send("x", gathering);
    await target.release();
    expect(target.sent.at(-1)).toEqual([["x"], ["3"]]);
    await target.release();
    expect(target.sent).toHaveLength(2);
  });

  it("reports a failure as an event and sends later hints", async () => {
    const events: DatabaseEvent[] = [];
    const target = new HeldTarget();
    const notifier = new Notifier(target, { ...ports, onEvent: (event) => events.push(event) });
    target.failure = new Error("down");
    notifier.send("x", "a");
    await target.release();
    target.failure = undefined;
    notifier.send("x", "b");
    await target.release();
    expect(events).toEqual([{ type: "notify.failed", reason: new Error("down") }]);
    expect(target.sent).toHaveLength(2);
  });

  it("drops hints beyond its bound", async () => {
    const target = new HeldTarget();
    const notifier = new Notifier(target, ports);
    for (let i = 0; i < 5_000; i++) notifier.send("x", String(i));
    await target.release();
    expect(target.sent[1]).toEqual([expect.objectContaining({ length: 1_000 }), expect.anything()]);
  });
});
