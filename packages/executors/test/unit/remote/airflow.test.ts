import { airflowExecutor } from "../../../src/airflow/airflow-executor.js";
import { NonRetryableError, RunStoppedError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith, type Line, run } from "../fixture.js";
import { FakeServer, type Received, type Reply } from "./fake-server.js";

const id = "carillon__r1__1";

/** Airflow with DAG runs by id; each ends at its nth poll. */
class FakeAirflow {
  readonly runs = new Map<string, { state: string; polls: number }>();
  pollsToEnd = 2;
  end = "success";
  onPoll: () => void = () => undefined;

  answer({ method, path, body }: Received): Reply {
    const [, rest = ""] = /\/dags\/etl\/dagRuns\/?(.*)$/.exec(path) ?? [];
    if (rest.includes("/logs/")) return { status: 200, body: "Traceback\nboom\n" };
    if (rest.endsWith("/taskInstances")) {
      const state = this.end === "success" ? "success" : "failed";
      return { status: 200, body: { task_instances: [{ task_id: "load", state, try_number: 1 }] } };
    }
    if (method === "POST") return this.#create((body as { dag_run_id: string }).dag_run_id);
    const found = this.runs.get(rest);
    if (found === undefined) return { status: 404 };
    if (method === "PATCH") found.state = (body as { state: string }).state;
    else {
      this.onPoll();
      if (found.state === "running" && ++found.polls >= this.pollsToEnd) found.state = this.end;
    }
    return { status: 200, body: { state: found.state } };
  }

  #create(name: string): Reply {
    if (this.runs.has(name)) return { status: 409 };
    this.runs.set(name, { state: "running", polls: 0 });
    return { status: 200 };
  }
}

describe("airflow", () => {
  let airflow: FakeAirflow;
  let server: FakeServer;
  beforeEach(async () => {
    airflow = new FakeAirflow();
    server = await new FakeServer((request) => airflow.answer(request)).listen();
  });
  afterEach(() => server.close());

  const secretsOf = (all: Record<string, string>) => ({ find: async (name: string) => all[name] });
  const executor = (secrets: Record<string, string> = { airflow_token: "t0ken" }, env: Record<string, string> = {}) =>
    airflowExecutor(hostWith({ secrets: secretsOf(secrets), env: { CARILLON_AIRFLOW_URL: `${server.url}/`, ...env } }));
  const payload = { dag: "etl", conf: { day: 1 }, poll_every: "1ms" };

  it("starts a DAG run, follows it to its end, and logs the state of each task once", async () => {
    const lines: Line[] = [];
    expect(await run(executor(), payload, { lines })).toEqual({ dag_run_id: id, state: "success" });
    expect(lines).toEqual([{ level: "info", message: "load: success" }]);
    expect(server.received[0]).toMatchObject({
      path: "/api/v2/dags/etl/dagRuns",
      headers: { authorization: "Bearer t0ken" },
      body: { dag_run_id: id, conf: { day: 1 }, logical_date: null },
    });
  });

  it("uses the v1 API if it is configured, with a name and a password", async () => {
    await run(executor({ airflow_username: "me", airflow_password: "pw" }, { CARILLON_AIRFLOW_API: "v1" }), payload);
    expect(server.received[0]).toMatchObject({
      path: "/api/v1/dags/etl/dagRuns",
      headers: { authorization: "Basic bWU6cHc=" },
      body: { dag_run_id: id, conf: { day: 1 } },
    });
    expect(server.received[0]?.body).not.toHaveProperty("logical_date");
  });

  it("adopts the DAG run that a lost worker started", async () => {
    airflow.runs.set(id, { state: "running", polls: 0 });
    expect(await run(executor(), payload)).toEqual({ dag_run_id: id, state: "success" });
    expect(airflow.runs.size).toBe(1);
  });

  it("fails the DAG run of the attempt before, unless that has ended", async () => {
    airflow.runs.set(id, { state: "running", polls: -10 });
    await run(executor(), payload, { attempt: 2 });
    expect(airflow.runs.get(id)?.state).toBe("failed");
    airflow.runs.set("carillon__r1__2", { state: "success", polls: 0 });
    await run(executor(), payload, { attempt: 3 });
    expect(airflow.runs.get("carillon__r1__2")?.state).toBe("success");
  });

  it("fails with the names and the logs of the failed tasks", async () => {
    airflow.end = "failed";
    const lines: Line[] = [];
    await expect(run(executor(), payload, { lines })).rejects.toThrow(`The DAG run ${id} failed; failed tasks: load`);
    expect(lines.map((line) => line.message)).toEqual(["load: failed", "Traceback", "boom"]);
  });

  it.each([
    ["timeout", "failed"],
    ["drain", "running"],
  ])("leaves, after a stop for %s, a DAG run that is %s", async (reason, state) => {
    airflow.pollsToEnd = Infinity;
    const controller = new AbortController();
    airflow.onPoll = () => controller.abort(new RunStoppedError(reason));
    await expect(run(executor(), payload, { signal: controller.signal })).rejects.toThrow(RunStoppedError);
    expect(airflow.runs.get(id)?.state).toBe(state);
  });

  it("fails for good without the address of Airflow", async () => {
    await expect(run(airflowExecutor(hostWith()), payload)).rejects.toThrow(NonRetryableError);
  });
});
