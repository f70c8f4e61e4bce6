import { describe, expect, it } from "vitest";
import { WireFilter } from "../../src/cluster/wire-filter.js";

const bytes = (text: string): Buffer => Buffer.from(text);

describe("a wiretap", () => {
  it.each([
    ["before", ""],
    ["after", "P\0due.fire\0"],
  ] as const)("springs at the named statement, once; %s it the node sends %j", async (when, passes) => {
    const wire = new WireFilter();
    const sprung: string[] = [];
    const there = wire.at({ when, statement: "due.fire" }, () => sprung.push("now"), 60_000);
    expect(wire.filter(bytes("P\0run.claim\0"), "client").toString()).toBe("P\0run.claim\0");
    expect(sprung).toEqual([]);
    expect(wire.filter(bytes("P\0due.fire\0"), "client").toString()).toBe(passes);
    await there;
    expect(wire.filter(bytes("P\0due.fire\0"), "client").toString()).toBe("P\0due.fire\0");
    expect(sprung).toEqual(["now"]);
  });

  it("springs all the same when the statement does not come", async () => {
    const sprung: string[] = [];
    await new WireFilter().at({ when: "after", statement: "due.fire" }, () => sprung.push("now"), 0);
    expect(sprung).toEqual(["now"]);
  });

  it("keeps hints from a deaf node, and nothing else", () => {
    const wire = new WireFilter();
    const hint = "A\0\0\0\0carillon_hint\0x\0";
    expect(wire.filter(bytes(hint), "server").toString()).toBe(hint);
    wire.dropsNotifications = true;
    expect(wire.filter(bytes(hint), "server")).toHaveLength(0);
    expect(wire.filter(bytes("Dcarillon_hint"), "server").toString()).toBe("Dcarillon_hint");
    expect(wire.filter(bytes(hint), "client").toString()).toBe(hint);
  });
});
