import type {
  DeadLetterActionDone,
  DeadLetterList,
  ErrorGroup,
  ErrorGroupList,
  Job,
  Run,
  RunRetried,
  RunWithRedrives,
} from "@carillon/contract";
import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";

const fingerprint = "9f86d081884c7d65";

/** Three failed runs, the last of them in a queue whose jobs do not overlap. */
async function withFailures() {
  const api = apiUnderTest();
  for (const queue of ["default", "default", "busy"]) await api.post("/v1/jobs", { task: "mail", queue });
  const failed = { status: "failed", statusReason: "handler_error", finishedAt: testNow } as const;
  const error = { type: "Error", message: "no", retryable: true, fingerprint };
  for (const [at, run] of api.engine.runs.stored.entries()) api.engine.runs.stored[at] = { ...run, ...failed, error };
  const ids = api.engine.runs.stored.map((run) => formatId("run", run.id));
  return { ...api, ids };
}

const listed = async (api: Awaited<ReturnType<typeof withFailures>>, query = "") =>
  (await api.get(`/v1/dead-letters${query}`)).json<DeadLetterList>().dead_letters.map((run) => run.id);

describe("dead letters", () => {
  it("lists dead letters in pages, by filter, with the group of their error", async () => {
    const api = await withFailures();
    const first = (await api.get("/v1/dead-letters?page_size=2")).json<DeadLetterList>();
    expect(first.dead_letters[0]?.error).toMatchObject({ fingerprint });
    const rest = await listed(api, `?page_size=2&page_token=${first.next_page_token}`);
    expect([...first.dead_letters.map((run) => run.id), ...rest]).toEqual(api.ids);
    expect(await listed(api, `?fingerprint=${fingerprint}`)).toEqual(api.ids);
    expect(await listed(api, "?task=other")).toEqual([]);
  });

  it("filters dead letters by a job's id or key, in lists and in bulk actions", async () => {
    const api = await withFailures();
    const { id, run } = (await api.post("/v1/jobs", { task: "mail", key: "k".repeat(200) })).json<Job>();
    const failed = { status: "failed", statusReason: "handler_error", finishedAt: testNow } as const;
    for (const [at, one] of api.engine.runs.stored.entries()) api.engine.runs.stored[at] = { ...one, ...failed };
    for (const job of [id, `@${"k".repeat(200)}`]) {
      expect(await listed(api, `?job_id=${job}`)).toEqual([run?.id]);
      const asked = { filter: { job_id: job }, dry_run: true };
      const answer = (await api.post("/v1/dead-letters:redrive", asked)).json<DeadLetterActionDone>();
      expect(answer.results).toEqual([{ id: run?.id }]);
      const bulk = await api.post("/v1/runs:bulk", { action: "retry", filter: { job_id: job }, dry_run: true });
      expect(bulk.statusCode).toBe(200);
    }
    const nobodys = { filter: { job_id: "@nope" } };
    expect((await api.get("/v1/dead-letters?job_id=@nope")).statusCode).toBe(404);
    expect((await api.post("/v1/dead-letters:discard", nobodys)).statusCode).toBe(404);
    expect((await api.post("/v1/runs:bulk", { action: "cancel", ...nobodys })).statusCode).toBe(404);
  });

  it.each([
    ["?failed_after=yesterday", "?failed_after instant_invalid"],
    ["?job_id=run_1", "?job_id id_invalid"],
    ["?status=failed", "?status unknown_field"],
  ])("refuses %s for dead letters", async (query, fault) => {
    const api = await withFailures();
    expect(refusalOf(await api.get(`/v1/dead-letters${query}`)).faults).toEqual([fault]);
  });

  it("shows a dead letter with its redrives, and only if the run failed", async () => {
    const api = await withFailures();
    const [id = ""] = api.ids;
    const made = (await api.post(`/v1/runs/${id}:retry`, {})).json<Run>();
    const shown = (await api.get(`/v1/dead-letters/${id}`)).json<RunWithRedrives>();
    expect(shown.redrives).toMatchObject([{ kind: "retry", run_id: made.id }]);
    expect((await api.get(`/v1/runs/${id}`)).json<Run>().retried_as).toBe(made.id);
    expect(refusalOf(await api.get(`/v1/dead-letters/${made.id}`))).toMatchObject({ status: 404 });
    expect(refusalOf(await api.get("/v1/dead-letters/x"))).toMatchObject({ status: 404 });
  });

  it("redrives dead letters by filter, page by page, and reports refusals", async () => {
    const api = await withFailures();
    const response = await api.post("/v1/dead-letters:redrive", { filter: { task: "mail" }, page_size: 2 });
    const first = response.json<DeadLetterActionDone>();
    expect(first).toMatchObject({ done: 1, refused: 1, dry_run: false });
    expect(first.results[0]).toMatchObject({ id: api.ids[0], problem: { code: "overlap_refused" } });
    expect(first.results[1]?.run_id).toMatch(/^run_/);
    const body = { filter: { task: "mail" }, page_size: 2, page_token: first.next_page_token };
    const rest = (await api.post("/v1/dead-letters:redrive", body)).json<DeadLetterActionDone>();
    expect(rest).toMatchObject({ done: 1, refused: 0, next_page_token: null });
    expect(await listed(api)).toEqual([api.ids[0]]);
  });

  it.each(["redrive", "discard"])("a dry run of %s only lists the dead letters", async (verb) => {
    const api = await withFailures();
    const answer = (await api.post(`/v1/dead-letters:${verb}`, { dry_run: true })).json<DeadLetterActionDone>();
    expect(answer).toMatchObject({ results: api.ids.map((id) => ({ id })), done: 0, dry_run: true });
    expect(await listed(api)).toEqual(api.ids);
  });

  it("discards dead letters, by filter and one by one", async () => {
    const api = await withFailures();
    const [id = ""] = api.ids;
    expect((await api.call({ method: "POST", url: `/v1/dead-letters/${id}:discard` })).statusCode).toBe(204);
    expect(await listed(api)).toEqual(api.ids.slice(1));
    await api.post("/v1/dead-letters:discard", {});
    expect(await listed(api)).toEqual([]);
  });

  it.each([
    [{ filter: { failed_before: "soon" } }, "/filter/failed_before instant_invalid"],
    [{ filter: { status: "failed" } }, "/filter/status unknown_field"],
    [{ page_size: 0 }, "/page_size field_invalid"],
  ])("refuses the dead letter action %j", async (body, fault) => {
    const api = await withFailures();
    expect(refusalOf(await api.post("/v1/dead-letters:redrive", body)).faults).toEqual([fault]);
  });
});

describe("retrying and replaying runs", () => {
  it.each(["/v1/runs/{id}:retry", "/v1/runs/{id}/retry", "/v1/dead-letters/{id}:redrive"])(
    "retries a failed run once at %s",
    async (path) => {
      const api = await withFailures();
      const [id = ""] = api.ids;
      const first = await api.post(path.replace("{id}", id), { force: true });
      const made = first.json<RunRetried>();
      expect([first.statusCode, first.headers["location"]]).toEqual([201, `/v1/runs/${made.id}`]);
      expect(made).toMatchObject({ is_new: true, trigger: { kind: "retry", id } });
      expect(api.engine.deadLetters.lastRepeat).toEqual({ force: true });
      const again = await api.call({ method: "POST", url: path.replace("{id}", id) });
      expect([again.statusCode, again.json<RunRetried>()]).toMatchObject([200, { id: made.id, is_new: false }]);
    },
  );

  it("replays a run that has ended, with another payload on request", async () => {
    const api = await withFailures();
    const [id = ""] = api.ids;
    const response = await api.post(`/v1/runs/${id}:replay`, { payload: null });
    expect([response.statusCode, response.json()]).toMatchObject([201, { trigger: { kind: "replay", id } }]);
    expect(api.engine.deadLetters.lastRepeat).toEqual({ payload: { value: null } });
  });

  it("refuses to retry or replay a live run", async () => {
    const api = apiUnderTest();
    await api.post("/v1/jobs", { task: "mail" });
    const id = formatId("run", api.engine.runs.stored[0]?.id ?? "");
    for (const verb of ["retry", "replay"])
      expect(refusalOf(await api.post(`/v1/runs/${id}:${verb}`, {}))).toMatchObject({ status: 409, code: "run_live" });
  });
});

describe("error groups", () => {
  it("lists error groups in pages and finds one by its fingerprint", async () => {
    const api = await withFailures();
    const [sampleRunId = ""] = api.engine.runs.stored.map((run) => run.id);
    const seen = { firstSeenAt: testNow - 1_000, lastSeenAt: testNow, sampleRunId };
    for (const name of [fingerprint, "0000000000000000"])
      api.engine.deadLetters.groups.push({
        fingerprint: name,
        type: "Error",
        message: "no",
        tasks: ["mail"],
        count: 3,
        ...seen,
      });
    const first = (await api.get("/v1/error-groups?page_size=1")).json<ErrorGroupList>();
    const next = `/v1/error-groups?page_size=1&page_token=${first.next_page_token}`;
    const rest = (await api.get(next)).json<ErrorGroupList>();
    expect([...first.error_groups, ...rest.error_groups].map((group) => group.fingerprint)).toEqual([
      fingerprint,
      "0000000000000000",
    ]);
    const one = (await api.get(`/v1/error-groups/${fingerprint}`)).json<ErrorGroup>();
    expect(one).toMatchObject({ count: 3, tasks: ["mail"], sample_run_id: formatId("run", sampleRunId) });
    for (const other of ["1111111111111111", "x", "%00"])
      expect(refusalOf(await api.get(`/v1/error-groups/${other}`))).toMatchObject({ status: 404 });
  });
});
