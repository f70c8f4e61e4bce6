import type { Limit, Queue } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const server = "http://127.0.0.1:8023/v1";
const limit = (over: Partial<Limit> = {}): Limit => {
  return {
    id: "lim_7",
    scope: "key",
    kind: "rate",
    key: "weather-api",
    limit: 60,
    per: "1m",
    burst: 60,
    on_failure: null,
    fixed: false,
    used: 12,
    waiting: 3,
    waiting_exact: true,
    oldest_waiting_at: null,
    next_room_at: null,
    stopped_by: null,
    ...over,
  };
};
const queue = (over: Partial<Queue> = {}): Partial<Queue> => {
  return { name: "reports", concurrency: null, rate_limit: null, ...over };
};

describe("carillon limit", () => {
  it("limit list sends its filters and prints limits", async () => {
    const calls = serve({ limits: [limit()], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["limit", "list", "--kind", "rate"], io)).toBe(0);
    expect(calls[0]?.url).toContain(`${server}/limits?`);
    expect(calls[0]?.url).toContain("kind=rate");
    expect(io.written()).toMatch(/lim_7 +key +weather-api +60 per 1m +12 +3 +runs/);
  });

  it("limit get prints one limit, or those of a queue", async () => {
    const calls = serve(limit(), { limits: [limit({ scope: "queue", key: "reports" })], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["limit", "get", "lim_7"], io)).toBe(0);
    expect(await runCli(["limit", "get", "queue:reports"], io)).toBe(0);
    expect(calls[1]?.url).toContain("scope=queue&key=reports");
    expect(io.written()).toMatch(/of +queue reports/);
  });

  it("limit update overrides a limit of runs, and the undo deletes the override", async () => {
    const calls = serve(limit(), limit({ limit: 5, fixed: true }));
    const io = fakeIo();
    expect(await runCli(["limit", "update", "lim_7", "--limit", "5"], io)).toBe(0);
    expect(calls[1]).toMatchObject({ method: "PATCH", url: `${server}/limits/lim_7`, body: { limit: 5 } });
    expect(io.said.join()).toContain("carillon limit delete lim_7");
  });

  it("limit update changes an override, and the undo restores the previous one", async () => {
    serve(limit({ fixed: true }), limit({ limit: 5, fixed: true }));
    const io = fakeIo();
    expect(await runCli(["limit", "update", "lim_7", "--limit", "5"], io)).toBe(0);
    expect(io.said.join()).toContain("carillon limit update lim_7 --limit 60 --per 1m --burst 60");
  });

  it("limit update sets a limit of a queue, also by the id of the limit, and prints the undo", async () => {
    const calls = serve(
      queue({ concurrency: { limit: 9 } }),
      queue({ concurrency: { limit: 5 } }),
      limit({ scope: "queue", key: "reports" }),
      queue(),
      queue({ rate_limit: { limit: 10, per: "1m" } }),
    );
    const io = fakeIo();
    expect(await runCli(["limit", "update", "queue:reports", "--limit", "5"], io)).toBe(0);
    expect(calls[1]).toMatchObject({ url: `${server}/queues/reports`, body: { concurrency: { limit: 5 } } });
    expect(io.said.join()).toContain("carillon limit update queue:reports --limit 9");
    expect(await runCli(["limit", "update", "lim_7", "--limit", "10"], io)).toBe(0);
    expect(calls[4]?.body).toEqual({ rate_limit: { limit: 10, per: "1m" } });
    expect(io.said.join()).toContain("carillon limit delete queue:reports --kind rate");
  });

  it("limit delete deletes the limits of a namespace, and the undo restores each", async () => {
    const before = { name: "billing", concurrency: { limit: 9 }, rate_limit: { limit: 100, per: "1h" } };
    const calls = serve(before, { ...before, concurrency: null, rate_limit: null });
    const io = fakeIo();
    expect(await runCli(["limit", "delete", "namespace", "--namespace", "billing"], io)).toBe(0);
    expect(calls[1]).toMatchObject({
      url: `${server}/namespaces/billing`,
      body: { concurrency: null, rate_limit: null },
    });
    expect(io.said.join()).toContain(
      "carillon limit update namespace --limit 9 --namespace billing && carillon limit update namespace --limit 100 --per 1h",
    );
  });

  it("limit delete deletes an override, and refuses a limit that only runs declare", async () => {
    const calls = serve(limit({ fixed: true }), limit(), limit());
    const io = fakeIo();
    expect(await runCli(["limit", "delete", "lim_7"], io)).toBe(0);
    expect(calls[1]?.body).toEqual({ fixed: false });
    expect(io.said.join()).toContain("carillon limit update lim_7 --limit 60");
    expect(await runCli(["limit", "delete", "lim_7"], io)).toBe(5);
  });

  it("limit update refuses 0 for a queue and a namespace, with the valid range", async () => {
    const calls = serve(limit());
    const io = fakeIo();
    expect(await runCli(["limit", "update", "queue:reports", "--limit", "0"], io)).toBe(2);
    expect(await runCli(["limit", "update", "namespace", "--limit", "0", "--per", "1m"], io)).toBe(2);
    expect({ said: io.said, calls: calls.length }).toEqual({
      said: [
        "carillon: The limit of a queue must be a whole number from 1 to 1000000. To let nothing start: carillon queue pause reports.",
        "carillon: The limit of a namespace must be a whole number from 1 to 1000000.",
      ],
      calls: 0,
    });
  });

  it("limit commands refuse invalid arguments with exit code 2", async () => {
    serve(limit());
    expect(await runCli(["limit", "get", "7"], fakeIo())).toBe(2);
    expect(await runCli(["limit", "update", "queue:reports"], fakeIo())).toBe(2);
    expect(await runCli(["limit", "update", "queue:reports", "--limit", "3", "--burst", "2"], fakeIo())).toBe(2);
    expect(await runCli(["limit", "update", "lim_7"], fakeIo())).toBe(2);
    expect(await runCli(["limit", "list", "--kind", "speed"], fakeIo())).toBe(2);
  });
});
