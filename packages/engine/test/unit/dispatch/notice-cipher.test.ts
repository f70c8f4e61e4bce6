import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { NoticeCipher } from "../../../src/dispatch/direct/direct-messages.js";

const key = randomBytes(32);
const cipher = new NoticeCipher(key);

/** With one bit of the byte at this place changed. */
const changedAt = (encrypted: string, place: number): string => {
  const bytes = Buffer.from(encrypted, "base64");
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  return bytes.toString("base64");
};

describe("an encrypted notice", () => {
  it.each(["", "a", "ä 日本 🔔 \n", "x".repeat(5_900)])(
    "is decrypted by every process that knows the secret: %j",
    (text) => {
      const encrypted = new NoticeCipher(Buffer.from(key)).encrypt("to a", text);
      expect(cipher.decrypt("to a", encrypted)).toBe(text);
      expect(encrypted).toMatch(/^[A-Za-z0-9+/]+=*$/);
    },
  );

  it("reveals nothing of its text, also when two texts are equal", () => {
    const [one, two] = ["one", "two"].map(() => cipher.encrypt("to a", "a text that is known"));
    expect(one).not.toBe(two);
    expect(Buffer.from(one ?? "", "base64").includes("known")).toBe(false);
  });

  it("is decrypted for its channel and for no other", () => {
    const encrypted = cipher.encrypt("to a", "text");
    for (const channel of ["to b", "to ", "", "to aa"]) expect(cipher.decrypt(channel, encrypted)).toBeNull();
  });

  it("is not decrypted with another secret", () => {
    expect(new NoticeCipher(randomBytes(32)).decrypt("to a", cipher.encrypt("to a", "text"))).toBeNull();
  });

  it("is not decrypted when any byte of it was changed, removed or added", () => {
    const encrypted = cipher.encrypt("to a", "text");
    const bytes = Buffer.from(encrypted, "base64");
    for (let place = 0; place < bytes.length; place++)
      expect(cipher.decrypt("to a", changedAt(encrypted, place))).toBeNull();
    for (let length = 0; length < bytes.length; length++)
      expect(cipher.decrypt("to a", bytes.subarray(0, length).toString("base64"))).toBeNull();
    expect(cipher.decrypt("to a", Buffer.concat([bytes, Buffer.from([0])]).toString("base64"))).toBeNull();
  });

  it.each(["", " ", "text", "[1]", "ä".repeat(100), "A".repeat(37), "A".repeat(38), "A".repeat(200)])(
    "is not decrypted when it is garbage: %j",
    (garbage) => {
      expect(cipher.decrypt("to a", garbage)).toBeNull();
    },
  );

  it("has a nonce that no process used before", () => {
    const [here, there] = [new NoticeCipher(key), new NoticeCipher(key)];
    const nonces = new Set<string>();
    for (let text = 0; text < 3_000; text++)
      for (const one of [here, there])
        nonces.add(Buffer.from(one.encrypt("to a", "text"), "base64").toString("hex", 0, 12));
    expect(nonces.size).toBe(6_000);
  });
});
