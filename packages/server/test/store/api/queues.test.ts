import type { Queue, QueueList, QueueStats, Run } from "@carillon/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

it("a queue is created by its first use, and shows its waiting runs", async () => {
  await api.post("/v1/runs", { task: "echo", queue: "first-use" });
  expect((await api.get("/v1/queues/first-use")).json<Queue>()).toMatchObject({ order: "priority", bound: "1h30m" });
  expect((await api.get("/v1/queues/first-use/stats")).json<QueueStats>()).toMatchObject({ queued: 1, workers: 0 });
  const { queues } = (await api.get("/v1/queues")).json<QueueList>();
  expect(queues.map(({ name }) => name)).toContain("first-use");
});

it("a paused queue accepts runs and keeps them queued", async () => {
  await api.post("/v1/queues/held:pause", { reason: "moving" });
  const { id } = (await api.post("/v1/runs", { task: "echo", queue: "held" })).json<Run>();
  expect((await api.get(`/v1/runs/${id}`)).json<Run>().status).toBe("queued");
  expect((await api.get("/v1/queues/held")).json<Queue>()).toMatchObject({ paused: true, pause: { reason: "moving" } });
});

it("queues of another namespace are not found [INV-7]", async () => {
  await api.send("PATCH", "/v1/queues/mine", { order: "fifo" });
  expect(refusalOf(await api.other.get("/v1/queues/mine")).status).toBe(404);
  expect((await api.other.get("/v1/queues")).json<QueueList>().queues).toEqual([]);
});

it("lists queues in pages, by name", async () => {
  for (const name of ["page-a", "page-b", "page-c"])
    await api.send("PATCH", `/v1/queues/${name}`, { order: "priority" });
  const names: string[] = [];
  for (let token: string | null = ""; token !== null;) {
    const page: QueueList = (
      await api.get(`/v1/queues?page_size=2${token === "" ? "" : `&page_token=${token}`}`)
    ).json();
    names.push(...page.queues.map(({ name }) => name));
    token = page.next_page_token;
  }
  expect(names.filter((name) => name.startsWith("page-"))).toEqual(["page-a", "page-b", "page-c"]);
});
