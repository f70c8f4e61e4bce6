import type { BulkOperation, Queue, QueueList, QueueStats } from "@carillon/contract";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

describe("queues over HTTP", () => {
  it("a patch creates a queue, with the bound of its order and a version", async () => {
    const api = apiUnderTest();
    const made = await api.send("PATCH", "/v1/queues/email", { order: "edf" });
    expect([made.statusCode, made.headers["etag"]]).toEqual([200, '"v1"']);
    expect(made.json<Queue>()).toMatchObject({ name: "email", order: "edf", bound: "1d", paused: false, pause: null });
    const changed = await api.send("PATCH", "/v1/queues/email", { order: "priority", bound: "30m" });
    expect(changed.json<Queue>()).toMatchObject({ order: "priority", bound: "30m", version: 2 });
    const { queues } = (await api.get("/v1/queues")).json<QueueList>();
    expect(queues.map(({ name }) => name)).toEqual(["email"]);
  });

  it("pauses a queue with a reason, also by the address with a slash, and resumes it", async () => {
    const api = apiUnderTest();
    const paused = await api.post("/v1/queues/email:pause", { reason: "down" });
    expect(paused.json<Queue>()).toMatchObject({ paused: true, pause: { reason: "down", actor: null } });
    expect((await api.call({ method: "POST", url: "/v1/queues/email/pause" })).statusCode).toBe(200);
    const resumed = await api.call({ method: "POST", url: "/v1/queues/email:resume" });
    expect(resumed.json<Queue>()).toMatchObject({ paused: false, pause: null });
  });

  it("reports the stats of a queue", async () => {
    const api = apiUnderTest();
    await api.send("PATCH", "/v1/queues/email", {});
    const stats = (await api.get("/v1/queues/email/stats")).json<QueueStats>();
    expect(stats).toMatchObject({ queued: 3, running: 1, wait_ms: 5_000, slots: 8, exact: true });
    const [queue] = (await api.get("/v1/queues?include=stats")).json<QueueList>().queues;
    expect(queue).toMatchObject({ name: "email", stats });
  });

  it("purges a small queue within the call, and a large one by an operation", async () => {
    const api = apiUnderTest();
    for (const name of ["email", "many"]) await api.send("PATCH", `/v1/queues/${name}`, {});
    const few = await api.post("/v1/queues/email:purge", { delayed: false });
    expect([few.statusCode, few.json()]).toEqual([200, { count: 3, more: false, dry_run: false }]);
    const counted = await api.post("/v1/queues/many:purge", { dry_run: true });
    expect([counted.statusCode, counted.json()]).toEqual([200, { count: 3, more: false, dry_run: true }]);
    const many = await api.post("/v1/queues/many/purge", {});
    const { id, action, state } = many.json<BulkOperation>();
    expect([many.statusCode, action, state]).toEqual([202, "purge", "running"]);
    expect(many.headers["location"]).toBe(`/v1/operations/${id}`);
    expect(refusalOf(await api.post("/v1/queues/nowhere:purge", {}))).toMatchObject({ status: 404, code: "not_found" });
    expect(refusalOf(await api.post("/v1/queues/many:purge", { delayed: "no" }))).toMatchObject({ status: 400 });
  });

  it("answers 404 to an unknown or impossible queue", async () => {
    const api = apiUnderTest();
    for (const url of ["/v1/queues/email", "/v1/queues/email/stats", "/v1/queues/a%20b"])
      expect(refusalOf(await api.get(url))).toMatchObject({ status: 404, code: "not_found" });
    expect(refusalOf(await api.send("PATCH", "/v1/queues/a%20b", {})).code).toBe("not_found");
  });

  it("refuses invalid changes of a queue with a pointer", async () => {
    const api = apiUnderTest();
    const faults = async (body: unknown) => refusalOf(await api.send("PATCH", "/v1/queues/email", body)).faults;
    expect(await faults({ order: "lifo" })).toEqual(["/order field_invalid"]);
    expect(await faults({ bound: "soon" })).toEqual(["/bound duration_invalid"]);
    expect(await faults({ order: "fifo", bound: "1h" })).toEqual(["/bound field_invalid"]);
    expect(await faults({ paused: true })).toEqual(["/paused unknown_field"]);
    expect(await faults([])).toEqual([" field_invalid"]);
    expect(await faults({ concurrency: {} })).toEqual(["/concurrency/limit field_missing"]);
    expect(await faults({ concurrency: { limit: 0 } })).toEqual(["/concurrency/limit field_invalid"]);
    expect(await faults({ rate_limit: { limit: 0, per: 5 } })).toEqual([
      "/rate_limit/limit field_invalid",
      "/rate_limit/per field_invalid",
    ]);
    expect(await faults({ rate_limit: { limit: 0 } })).toEqual([
      "/rate_limit/per field_missing",
      "/rate_limit/limit field_invalid",
    ]);
  });

  it("refuses a change of another version, and the strict order for an existing queue", async () => {
    const api = apiUnderTest();
    await api.send("PATCH", "/v1/queues/email", {});
    const other = await api.send("PATCH", "/v1/queues/email", { order: "fifo" }, { "if-match": '"v7"' });
    expect(refusalOf(other)).toMatchObject({ status: 412, code: "precondition_failed" });
    const strict = await api.send("PATCH", "/v1/queues/email", { order: "strict" });
    expect(refusalOf(strict)).toMatchObject({ status: 409, code: "queue_order_fixed" });
  });
});
