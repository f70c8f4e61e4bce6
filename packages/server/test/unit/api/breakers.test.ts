import type { Breaker, BreakerList, Job } from "@carillon/contract";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";

function apiWithBreakers(...names: readonly string[]) {
  const api = apiUnderTest();
  const open = { state: "open", reason: "6 of 10 failed", openings: 1, openedAt: testNow, updatedAt: testNow } as const;
  for (const name of names) api.engine.breakers.stored.set(name, { ...open, name, probeAt: testNow + 30_000 });
  return api;
}

describe("breakers over HTTP", () => {
  it("lists breakers in pages and shows one, with the time of its next probe", async () => {
    const api = apiWithBreakers("payments-api", "pdf");
    const first = (await api.get("/v1/breakers?page_size=1")).json<BreakerList>();
    expect(first.breakers.map(({ name }) => name)).toEqual(["payments-api"]);
    const next = (await api.get(`/v1/breakers?page_size=1&page_token=${first.next_page_token}`)).json<BreakerList>();
    expect(next).toMatchObject({ breakers: [{ name: "pdf" }], next_page_token: null });
    const shown = (await api.get("/v1/breakers/pdf")).json<Breaker>();
    expect(shown).toMatchObject({ name: "pdf", state: "open", probe_at: "2026-11-12T08:30:30.000Z" });
  });

  it("resets a breaker, also by the address with a slash", async () => {
    const api = apiWithBreakers("pdf");
    for (const url of ["/v1/breakers/pdf:reset", "/v1/breakers/pdf/reset"]) {
      const reset = await api.call({ method: "POST", url });
      expect([reset.statusCode, reset.json<Breaker>()]).toMatchObject([200, { state: "closed", probe_at: null }]);
    }
  });

  it("an unknown or impossible breaker gets 404, and the page token of another list is refused", async () => {
    const api = apiWithBreakers();
    for (const name of ["none", "a%20b", "x".repeat(300)]) {
      expect(refusalOf(await api.get(`/v1/breakers/${name}`))).toMatchObject({ status: 404, code: "not_found" });
      expect(refusalOf(await api.call({ method: "POST", url: `/v1/breakers/${name}:reset` })).status).toBe(404);
    }
    expect(refusalOf(await api.get("/v1/breakers?page_token=abc")).code).toBe("page_token_invalid");
  });

  it("a job shows its breaker in full; without a name it has that of its task", async () => {
    const api = apiWithBreakers();
    const made = async (breaker: object) =>
      (await api.post("/v1/jobs", { task: "pdf", schedule: { manual: true }, breaker })).json<Job>().breaker;
    expect(await made({ name: "payments-api", min_calls: 3, open_for: "5s" })).toEqual({
      name: "payments-api",
      failure_ratio: 0.5,
      window: "1m",
      min_calls: 3,
      open_for: "5s",
    });
    expect(await made({})).toMatchObject({ name: "pdf", min_calls: 10 });
  });

  it("refuses an invalid breaker with a pointer", async () => {
    const api = apiWithBreakers();
    const faults = async (breaker: unknown) => refusalOf(await api.post("/v1/jobs", { task: "pdf", breaker })).faults;
    expect(await faults({ failure_ratio: 2 })).toEqual(["/breaker/failure_ratio field_invalid"]);
    expect(await faults({ min_calls: 0 })).toEqual(["/breaker/min_calls field_invalid"]);
    expect(await faults({ window: "soon" })).toEqual(["/breaker/window duration_invalid"]);
    expect(await faults({ open_for: "0s" })).toEqual(["/breaker/open_for duration_invalid"]);
    expect(await faults({ name: "a b" })).toEqual(["/breaker/name field_invalid"]);
    expect(await faults({ opens: true })).toEqual(["/breaker/opens unknown_field"]);
  });
});
