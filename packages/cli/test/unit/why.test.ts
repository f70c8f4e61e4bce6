import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { type Call, serve, serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const why = (id: string, code: string, over: object = {}) => ({
  run_id: id,
  status: "queued",
  code,
  detail: `${id} because of ${code}`,
  until: null,
  facts: {},
  ...over,
});

const ofJob = (over: object) => ({
  job_id: "job_1",
  state: "active",
  code: "fires",
  detail: "fires in 3m",
  until: null,
  facts: {},
  next_run_at: null,
  run: null,
  outcomes: [],
  warnings: [],
  ...over,
});

async function run(...argv: string[]) {
  const io = fakeIo();
  const code = await runCli(argv, io);
  return { code, out: io.written(), talk: io.said.join("\n") };
}

const pathOf = ({ url }: Call): string => decodeURIComponent(new URL(url).pathname);

describe("why", () => {
  it.each([
    ["@nightly", "/v1/jobs/@nightly/explain"],
    ["nightly", "/v1/jobs/@nightly/explain"],
    ["job_1", "/v1/jobs/job_1/explain"],
  ])("why reads %s as a job", async (name, path) => {
    const calls = serve(ofJob({}));
    const { code, out } = await run("why", name);
    expect({ code, paths: calls.map(pathOf) }).toEqual({ code: 0, paths: [path] });
    expect(out).toMatch(/^why +fires in 3m$/m);
  });

  it("why prints the command that helps", async () => {
    serve(ofJob({ code: "paused", detail: "paused", run: why("run_1", "ended", { facts: { status: "failed" } }) }));
    const { out } = await run("why", "@nightly");
    expect(out.match(/^try .*$/gm)).toEqual([
      "try         carillon job resume job_1",
      "try         carillon run logs run_1",
      "try         carillon run retry run_1",
    ]);
    serve(why("run_1", "no_worker_for_task", { facts: { task: "shell", queue: "default" } }));
    expect((await run("why", "run_1")).out).toContain("carillon worker start --enable-shell");
  });

  it("why follows the run that a run waits for", async () => {
    const answers = { run_1: why("run_1", "overlap", { facts: { run: "run_2" } }), run_2: why("run_2", "running") };
    serveBy((call) => ({ body: answers[pathOf(call).split("/")[3] as keyof typeof answers] }));
    const { out } = await run("why", "run_1");
    expect(out).toContain("and that  run_2: run_2 because of running");
    expect(out).toContain("carillon run watch run_2");
  });

  it("why without arguments groups waiting runs by reason, and lists paused jobs", async () => {
    const ids = ["run_1", "run_2", "run_3", "run_4"];
    const runs = ids.map((id) => ({ id, task: "pdf", job_id: null }));
    const paused = { id: "job_1", key: "nightly", pause: { at: "T", until: null, reason: "audit" } };
    const codes: Record<string, string> = { run_2: "queue_paused", run_4: "running" };
    serveBy((call) => {
      const [, , what, id = ""] = pathOf(call).split("/");
      if (what === "jobs") return { body: { jobs: [paused], next_page_token: null } };
      if (id === "") return { body: { runs, next_page_token: null } };
      return { body: why(id, codes[id] ?? "no_worker_for_task") };
    });
    const { code, out } = await run("why", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([
      { count: 2, code: "no_worker_for_task", detail: "run_1 because of no_worker_for_task", such_as: "run_1" },
      { count: 1, code: "queue_paused", detail: "run_2 because of queue_paused", such_as: "run_2" },
      {
        count: 1,
        code: "paused",
        detail: "job @nightly is paused since T, until it is resumed: audit",
        such_as: "job_1",
      },
    ]);
  });
});

describe("waiting for a run", () => {
  const waiting = {
    id: "run_1",
    status: "queued",
    waiting_on: { code: "no_worker_for_task", detail: "no worker has it" },
  };

  it("task run --wait prints once why the run waits, and its state when the time is over", async () => {
    serve(waiting);
    const { code, talk } = await run("task", "run", "pdf", "--wait", "--wait-timeout", "5s");
    expect(code).toBe(8);
    expect(talk.split("\n")).toEqual([
      "carillon: run_1 waits: no worker has it",
      "carillon: run_1 is queued after 5 s: no worker has it; it goes on in the server; see it again with: carillon run watch run_1; end it with: carillon run cancel run_1",
    ]);
  });
});

describe("a job whose task no worker serves", () => {
  const warnings = [{ code: "no_worker_for_task", detail: "no worker serves task helo, so its runs wait" }];

  it("job create prints the warning of the server, in the table or beside the data", async () => {
    const job = { id: "job_1", key: null, task: "helo", status: "scheduled", last_run: null, warnings };
    serve(job);
    const { code, out } = await run("job", "create", "--task", "helo", "--every", "1m");
    expect(code).toBe(0);
    expect(out).toMatch(/^warning +no worker serves task helo, so its runs wait$/m);
    const { talk } = await run("job", "create", "--task", "helo", "--every", "1m", "--json");
    expect(talk).toContain("carillon: warning: no worker serves task helo, so its runs wait");
  });

  it.each([
    ["task", "run", "helo"],
    ["job", "run", "@hello"],
  ])("%s %s %s prints the warning of the server", async (...args) => {
    serve({ id: "run_1", status: "queued", task: "helo", trigger: {}, attempts: [], error: null, losses: 0, warnings });
    expect((await run(...args)).talk).toContain("carillon: warning: no worker serves task helo, so its runs wait");
  });
});
