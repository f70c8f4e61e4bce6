import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Seal } from "../../../src/dispatch/direct/notice-cipher.js";

const key = randomBytes(32);
const seal = new Seal(key);

/** A bit of the byte at this place is another. */
const changedAt = (sealed: string, place: number): string => {
  const bytes = Buffer.from(sealed, "base64");
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  return bytes.toString("base64");
};

describe("a sealed text", () => {
  it.each(["", "a", "ä 日本 🔔 \n", "x".repeat(5_900)])("is opened by all who know the secret: %j", (text) => {
    const sealed = new Seal(Buffer.from(key)).close("to a", text);
    expect(seal.open("to a", sealed)).toBe(text);
    expect(sealed).toMatch(/^[A-Za-z0-9+/]+=*$/);
  });

  it("says nothing of what is in it, also when that is the same", () => {
    const [one, two] = ["one", "two"].map(() => seal.close("to a", "a text that is known"));
    expect(one).not.toBe(two);
    expect(Buffer.from(one ?? "", "base64").includes("known")).toBe(false);
  });

  it("is for one channel and for no other", () => {
    const sealed = seal.close("to a", "text");
    for (const channel of ["to b", "to ", "", "to aa"]) expect(seal.open(channel, sealed)).toBeNull();
  });

  it("is not opened by another secret", () => {
    expect(new Seal(randomBytes(32)).open("to a", seal.close("to a", "text"))).toBeNull();
  });

  it("is not opened when any byte of it was changed, taken away or added", () => {
    const sealed = seal.close("to a", "text");
    const bytes = Buffer.from(sealed, "base64");
    for (let place = 0; place < bytes.length; place++) expect(seal.open("to a", changedAt(sealed, place))).toBeNull();
    for (let length = 0; length < bytes.length; length++)
      expect(seal.open("to a", bytes.subarray(0, length).toString("base64"))).toBeNull();
    expect(seal.open("to a", Buffer.concat([bytes, Buffer.from([0])]).toString("base64"))).toBeNull();
  });

  it.each(["", " ", "text", "[1]", "ä".repeat(100), "A".repeat(37), "A".repeat(38), "A".repeat(200)])(
    "is nothing that somebody else wrote: %j",
    (garbage) => {
      expect(seal.open("to a", garbage)).toBeNull();
    },
  );

  it("has a number that none before had, by nobody", () => {
    const [here, there] = [new Seal(key), new Seal(key)];
    const nonces = new Set<string>();
    for (let text = 0; text < 3_000; text++)
      for (const by of [here, there])
        nonces.add(Buffer.from(by.close("to a", "text"), "base64").toString("hex", 0, 12));
    expect(nonces.size).toBe(6_000);
  });
});
