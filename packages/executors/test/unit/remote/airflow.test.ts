import { airflowExecutor } from "../../../src/airflow/airflow-executor.js";
import { NonRetryableError, RunStoppedError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith, type Line, run } from "../fixture.js";
import { type Asked, type Said, StandIn } from "./stand-in.js";

const id = "carillon__r1__1";

/** An Airflow that has DAG runs by id; each ends after it was looked at so often. */
class FakeAirflow {
  readonly runs = new Map<string, { state: string; looks: number }>();
  looksToEnd = 2;
  end = "success";
  onLook: () => void = () => undefined;

  answer({ method, path, body }: Asked): Said {
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
      this.onLook();
      if (found.state === "running" && ++found.looks >= this.looksToEnd) found.state = this.end;
    }
    return { status: 200, body: { state: found.state } };
  }

  #create(name: string): Said {
    if (this.runs.has(name)) return { status: 409 };
    this.runs.set(name, { state: "running", looks: 0 });
    return { status: 200 };
  }
}

describe("airflow", () => {
  let airflow: FakeAirflow;
  let server: StandIn;
  beforeEach(async () => {
    airflow = new FakeAirflow();
    server = await new StandIn((asked) => airflow.answer(asked)).listen();
  });
  afterEach(() => server.close());

  const secretsOf = (all: Record<string, string>) => ({ find: async (name: string) => all[name] });
  const executor = (secrets: Record<string, string> = { airflow_token: "t0ken" }, env: Record<string, string> = {}) =>
    airflowExecutor(hostWith({ secrets: secretsOf(secrets), env: { CARILLON_AIRFLOW_URL: `${server.url}/`, ...env } }));
  const payload = { dag: "etl", conf: { day: 1 }, poll_every: "1ms" };

  it("starts a DAG run, follows it to its end, and logs what became of its tasks once", async () => {
    const lines: Line[] = [];
    expect(await run(executor(), payload, { lines })).toEqual({ dag_run_id: id, state: "success" });
    expect(lines).toEqual([{ level: "info", message: "load: success" }]);
    expect(server.asked[0]).toMatchObject({
      path: "/api/v2/dags/etl/dagRuns",
      headers: { authorization: "Bearer t0ken" },
      body: { dag_run_id: id, conf: { day: 1 }, logical_date: null },
    });
  });

  it("speaks the older API when told so, with a name and a password", async () => {
    await run(executor({ airflow_username: "me", airflow_password: "pw" }, { CARILLON_AIRFLOW_API: "v1" }), payload);
    expect(server.asked[0]).toMatchObject({
      path: "/api/v1/dags/etl/dagRuns",
      headers: { authorization: "Basic bWU6cHc=" },
      body: { dag_run_id: id, conf: { day: 1 } },
    });
    expect(server.asked[0]?.body).not.toHaveProperty("logical_date");
  });

  it("adopts the DAG run that a lost worker began", async () => {
    airflow.runs.set(id, { state: "running", looks: 0 });
    expect(await run(executor(), payload)).toEqual({ dag_run_id: id, state: "success" });
    expect(airflow.runs.size).toBe(1);
  });

  it("ends what the attempt before it left, and leaves alone what had ended", async () => {
    airflow.runs.set(id, { state: "running", looks: -10 });
    await run(executor(), payload, { attempt: 2 });
    expect(airflow.runs.get(id)?.state).toBe("failed");
    airflow.runs.set("carillon__r1__2", { state: "success", looks: 0 });
    await run(executor(), payload, { attempt: 3 });
    expect(airflow.runs.get("carillon__r1__2")?.state).toBe("success");
  });

  it("fails with the names and the logs of the tasks that did", async () => {
    airflow.end = "failed";
    const lines: Line[] = [];
    await expect(run(executor(), payload, { lines })).rejects.toThrow(`the DAG run ${id} failed; failed tasks: load`);
    expect(lines.map((line) => line.message)).toEqual(["load: failed", "Traceback", "boom"]);
  });

  it.each([
    ["timeout", "failed"],
    ["drain", "running"],
  ])("when the run is to stop for %s, the DAG run is %s", async (reason, state) => {
    airflow.looksToEnd = Infinity;
    const controller = new AbortController();
    airflow.onLook = () => controller.abort(new RunStoppedError(reason));
    await expect(run(executor(), payload, { signal: controller.signal })).rejects.toThrow(RunStoppedError);
    expect(airflow.runs.get(id)?.state).toBe(state);
  });

  it("needs to know where Airflow is", async () => {
    await expect(run(airflowExecutor(hostWith()), payload)).rejects.toThrow(NonRetryableError);
  });
});
