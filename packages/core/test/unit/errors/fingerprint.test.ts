import { describe, expect, it } from "vitest";
import { fingerprintOf, plainMessage } from "../../../src/index.js";

const of = (message: string, stack?: string) =>
  fingerprintOf({ type: "Error", message, ...(stack !== undefined && { stack }) });

describe("the fingerprint of an error", () => {
  it.each([
    ["user 42 has no mail", "user 4711 has no mail"],
    ["timeout after 30.5 s", "timeout after 1 s"],
    ['no column "name"', 'no column "age"'],
    ["order 0b9c1a52-9d3f-4f0e-8c51-2f1f5d2f6a01 is gone", "order 7f9c1a52-9d3f-4f0e-8c51-2f1f5d2f6a02 is gone"],
    ["run_01k9zq3v5e0r8t2b7n4m6x1c9d failed", "run_01k9zq3v5e0r8t2b7n4m6x1c9e failed"],
    ["GET https://a.example/x?y=1 gave 500", "GET https://b.example/z gave 502"],
    ["ENOENT: open /var/tmp/a/1.txt", "ENOENT: open /home/b/c.txt"],
    ["commit deadbeef01 is unknown", "commit 0123456789abcdef is unknown"],
  ])("gives %j and %j the same fingerprint", (one, other) => {
    expect(of(one)).toBe(of(other));
  });

  it.each([
    ["no such user", "no such order"],
    ["it's gone", "it's here"],
    ["read failed", "write failed"],
  ])("gives %j and %j different fingerprints", (one, other) => {
    expect(of(one)).not.toBe(of(other));
  });

  it("gives errors of different types different fingerprints", () => {
    expect(fingerprintOf({ type: "TypeError", message: "no" })).not.toBe(
      fingerprintOf({ type: "Error", message: "no" }),
    );
  });

  it("distinguishes errors by the function that threw them, not by line or folder", () => {
    const stack = (fn: string, file: string, line: number) =>
      `Error: no\n    at ${fn} (${file}:${line}:5)\n    at node:internal/process/task_queues:95:5`;
    expect(of("no", stack("send", "/app/src/mail.js", 10))).toBe(of("no", stack("send", "/srv/dist/mail.js", 99)));
    expect(of("no", stack("send", "/app/src/mail.js", 10))).not.toBe(of("no", stack("read", "/app/src/mail.js", 10)));
    expect(of("no", stack("send", "/app/src/mail.js", 10))).not.toBe(of("no", stack("send", "/app/src/sms.js", 10)));
  });

  it("computes 16 hexadecimal digits for any error, quickly", () => {
    for (const message of ["", "\0", "'".repeat(100_000), "/a".repeat(100_000), "1".repeat(100_000), "\ud800"])
      expect(of(message, message)).toMatch(/^[0-9a-f]{16}$/);
  });

  it("keeps the plain message readable", () => {
    expect(plainMessage('user 42 ("Ann") not in /etc/app/users.db')).toBe("user <n> (<text>) not in <path>");
  });
});
