import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const over = (seconds: number) => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  body: { code: "rate_limited", detail: `Come again in ${seconds} s.`, errors: [], request_id: "r", retryable: true },
});

describe("a command over its quota", () => {
  it("a command over its quota waits as long as the server asks, prints that, and then succeeds", async () => {
    const answers = [over(2), over(1), { body: { id: "run_1", status: "cancelled" } }];
    const calls = serveBy(() => answers.shift() ?? over(1));
    const io = fakeIo();
    expect(await runCli(["run", "cancel", "run_1", "--json"], io)).toBe(0);
    expect(calls.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual(
      Array.from({ length: 3 }, () => "POST /v1/runs/run_1:cancel"),
    );
    expect(io.slept).toEqual([2_000, 1_000]);
    expect(io.said.slice(0, 2)).toEqual([
      "carillon: the server asks to retry in 2 s (rate_limited)",
      "carillon: the server asks to retry in 1 s (rate_limited)",
    ]);
  });

  it("a command over its quota ends with 1 when the wait would exceed half a minute, and prints the time", async () => {
    const calls = serveBy(() => over(31));
    const io = fakeIo();
    expect(await runCli(["job", "list"], io)).toBe(1);
    expect([calls.length, io.slept]).toEqual([1, []]);
    expect(io.said.join("\n")).toContain("Come again in 31 s. (rate_limited)");
  });
});
