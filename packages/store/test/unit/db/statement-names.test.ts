import { describe, expect, it } from "vitest";
import { StatementNames } from "../../../src/db/connection.js";
import type { DatabaseEvent } from "../../../src/db/options.js";

describe("StatementNames", () => {
  it.each([
    ["auto", true, true],
    ["auto", false, false],
    ["on", false, true],
    ["off", true, false],
  ] as const)("with %s and a direct connection %s are usable: %s", (mode, direct, usable) => {
    expect(new StatementNames(mode, () => undefined).usable(direct)).toBe(usable);
  });

  it("turns names off under auto once the server keeps losing them, with one event", () => {
    const events: DatabaseEvent[] = [];
    const names = new StatementNames("auto", (event) => events.push(event));
    names.countLost();
    expect(names.usable(true)).toBe(true);
    for (let i = 0; i < 50; i++) names.countLost();
    expect(names.usable(true)).toBe(false);
    expect(events).toHaveLength(1);
  });
});
