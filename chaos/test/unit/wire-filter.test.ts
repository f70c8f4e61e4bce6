import { describe, expect, it } from "vitest";
import { WireFilter } from "../../src/cluster/wire-filter.js";

const bytes = (text: string): Buffer => Buffer.from(text);

describe("the wire filter", () => {
  it.each([
    ["before", ""],
    ["after", "P\0due.fire\0"],
  ] as const)(
    "the wire filter acts once at the named statement; %s it, the database receives %j",
    async (when, passes) => {
      const wire = new WireFilter();
      const actions: string[] = [];
      const reached = wire.at({ when, statement: "due.fire" }, () => actions.push("acted"), 60_000);
      expect(wire.filter(bytes("P\0run.claim\0"), "client").toString()).toBe("P\0run.claim\0");
      expect(actions).toEqual([]);
      expect(wire.filter(bytes("P\0due.fire\0"), "client").toString()).toBe(passes);
      await reached;
      expect(wire.filter(bytes("P\0due.fire\0"), "client").toString()).toBe("P\0due.fire\0");
      expect(actions).toEqual(["acted"]);
    },
  );

  it("the wire filter acts at its time limit if the statement is never sent", async () => {
    const actions: string[] = [];
    await new WireFilter().at({ when: "after", statement: "due.fire" }, () => actions.push("acted"), 0);
    expect(actions).toEqual(["acted"]);
  });

  it("the wire filter drops notifications and nothing else", () => {
    const wire = new WireFilter();
    const hint = "A\0\0\0\0carillon_hint\0x\0";
    expect(wire.filter(bytes(hint), "server").toString()).toBe(hint);
    wire.dropsNotifications = true;
    expect(wire.filter(bytes(hint), "server")).toHaveLength(0);
    expect(wire.filter(bytes("Dcarillon_hint"), "server").toString()).toBe("Dcarillon_hint");
    expect(wire.filter(bytes(hint), "client").toString()).toBe(hint);
  });
});
