import type { Breaker } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const server = "http://127.0.0.1:8023/v1";
const at = "2030-01-01T00:00:00.000Z";
const breaker = (over: Partial<Breaker> = {}): Breaker => ({
  name: "payments-api",
  state: "open",
  reason: "6 of 10 failed",
  opened_at: at,
  probe_at: "2030-01-01T00:00:30.000Z",
  openings: 2,
  updated_at: at,
  ...over,
});

describe("carillon breaker", () => {
  it("breaker list prints the state, the reason and the time of the next probe", async () => {
    serve({ breakers: [breaker(), breaker({ name: "pdf", state: "closed", probe_at: null })], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["breaker", "list"], io)).toBe(0);
    expect(io.written()).toMatch(/payments-api +open +6 of 10 failed .*00:00:30/);
    expect(io.written()).toMatch(/pdf +closed/);
  });

  it("breaker get prints one breaker, also as JSON", async () => {
    const calls = serve(breaker());
    const [plain, json] = [fakeIo(), fakeIo()];
    expect(await runCli(["breaker", "get", "payments-api"], plain)).toBe(0);
    expect(await runCli(["breaker", "get", "payments-api", "-o", "json"], json)).toBe(0);
    expect(calls[0]).toMatchObject({ method: "GET", url: `${server}/breakers/payments-api` });
    expect(plain.written()).toMatch(/openings +2/);
    expect(plain.written()).toMatch(/tries at +2030-01-01T00:00:30/);
    expect(JSON.parse(json.written())).toEqual(breaker());
  });

  it("breaker reset closes a breaker and prints how to hold runs back instead", async () => {
    const calls = serve(breaker({ state: "closed", probe_at: null }));
    const io = fakeIo();
    expect(await runCli(["breaker", "reset", "payments-api"], io)).toBe(0);
    expect(calls[0]).toMatchObject({ method: "POST", url: `${server}/breakers/payments-api:reset` });
    expect(io.written()).toMatch(/state +closed/);
    expect(io.said.join()).toContain("carillon queue pause");
  });

  it("breaker get without a name is refused with exit code 2", async () => {
    serve();
    for (const verb of ["show", "reset"]) expect(await runCli(["breaker", verb], fakeIo())).toBe(2);
  });
});
