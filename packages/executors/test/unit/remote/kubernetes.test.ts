import { kubernetesExecutor } from "../../../src/kubernetes/kubernetes-executor.js";
import { NonRetryableError, RunStoppedError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith, type Line, run } from "../fixture.js";
import { type Asked, type Said, StandIn } from "./stand-in.js";

const jobs = "/apis/batch/v1/namespaces/batch/jobs";
const pods = "/api/v1/namespaces/batch/pods";

/** A cluster that has jobs by name; each ends after it was looked at so often. */
class FakeCluster {
  readonly jobs = new Map<string, number>();
  looksToEnd = 2;
  failsWith: number | null = null;
  onLook: () => void = () => undefined;

  answer({ method, path, body }: Asked): Said {
    if (path === `${pods}/pod-1/log`) return { status: 200, body: "2026-01-01T00:00:00.000000001Z hello\n" };
    if (path === pods) return { status: 200, body: this.#pods() };
    if (method === "POST") return this.#create((body as { metadata: { name: string } }).metadata.name);
    const name = path.slice(jobs.length + 1);
    const looks = this.jobs.get(name);
    if (looks === undefined) return { status: 404, body: { message: "not found" } };
    if (method === "DELETE") return { status: this.jobs.delete(name) ? 200 : 404 };
    this.onLook();
    this.jobs.set(name, looks + 1);
    if (looks + 1 < this.looksToEnd) return { status: 200, body: { status: { active: 1 } } };
    const type = this.failsWith === null ? "Complete" : "Failed";
    return { status: 200, body: { status: { conditions: [{ type, status: "True", message: "" }] } } };
  }

  #create(name: string): Said {
    if (this.jobs.has(name)) return { status: 409, body: { message: "exists" } };
    this.jobs.set(name, 0);
    return { status: 201 };
  }

  #pods(): object {
    const terminated = { exitCode: this.failsWith ?? 0, reason: this.failsWith === null ? "Completed" : "Error" };
    return { items: [{ metadata: { name: "pod-1" }, status: { containerStatuses: [{ state: { terminated } }] } }] };
  }
}

describe("kubernetes", () => {
  let cluster: FakeCluster;
  let server: StandIn;
  beforeEach(async () => {
    cluster = new FakeCluster();
    server = await new StandIn((asked) => cluster.answer(asked)).listen();
  });
  afterEach(() => server.close());

  const secrets = { find: async (name: string) => (name === "kubernetes_token" ? "t0ken" : undefined) };
  const kubernetes = () =>
    kubernetesExecutor(
      hostWith({ secrets, env: { CARILLON_KUBERNETES_URL: server.url, CARILLON_KUBERNETES_NAMESPACE: "batch" } }),
    );
  const payload = { image: "alpine:3", command: ["true"], poll_every: "1ms" };
  const name = "carillon-r1-1";

  it("runs a Job to its end and logs its lines once", async () => {
    const lines: Line[] = [];
    const over = { ...payload, env: { A: "1" }, secret_env: { P: "db/password" }, resources: { limits: { cpu: "1" } } };
    expect(await run(kubernetes(), over, { lines })).toEqual({ job: name, exit_code: 0 });
    expect(lines).toEqual([{ level: "info", message: "hello" }]);
    expect(server.asked[0]).toMatchObject({
      method: "POST",
      path: jobs,
      headers: { authorization: "Bearer t0ken" },
      body: {
        metadata: { name },
        spec: {
          backoffLimit: 0,
          template: {
            spec: {
              restartPolicy: "Never",
              containers: [
                {
                  image: "alpine:3",
                  env: expect.arrayContaining([
                    { name: "A", value: "1" },
                    { name: "CARILLON_IDEMPOTENCY_KEY", value: "r1" },
                    { name: "P", valueFrom: { secretKeyRef: { name: "db", key: "password" } } },
                  ]) as unknown,
                  resources: { limits: { cpu: "1" } },
                },
              ],
            },
          },
        },
      },
    });
  });

  it("adopts the Job that a lost worker began", async () => {
    cluster.jobs.set(name, 0);
    expect(await run(kubernetes(), payload)).toEqual({ job: name, exit_code: 0 });
    expect([...cluster.jobs.keys()]).toEqual([name]);
  });

  it("ends what the attempt before it left", async () => {
    cluster.jobs.set(name, 0);
    await run(kubernetes(), payload, { attempt: 2 });
    expect([...cluster.jobs.keys()]).toEqual(["carillon-r1-2"]);
  });

  it("names its Job so that a cluster takes it", async () => {
    const runId = "run_01jfhc80000e000g0000000000";
    await run(kubernetes(), payload, { runId });
    expect([...cluster.jobs.keys()]).toEqual(["carillon-run-01jfhc80000e000g0000000000-1"]);
    expect(server.asked[0]).toMatchObject({ body: { metadata: { labels: { "carillon.run": runId } } } });
  });

  it("fails with the code of its container", async () => {
    cluster.failsWith = 3;
    await expect(run(kubernetes(), payload)).rejects.toThrow(`the job ${name} failed with code 3: Error`);
  });

  it.each([
    ["timeout", false],
    ["cancelled_by_user", false],
    ["drain", true],
  ])("when the run is to stop for %s, the Job goes on: %s", async (reason, goesOn) => {
    cluster.looksToEnd = Infinity;
    const controller = new AbortController();
    cluster.onLook = () => controller.abort(new RunStoppedError(reason));
    await expect(run(kubernetes(), payload, { signal: controller.signal })).rejects.toThrow(RunStoppedError);
    expect(cluster.jobs.has(name)).toBe(goesOn);
  });

  it("ends for good at what the cluster refuses, and without one", async () => {
    const refused = await new StandIn(() => ({ status: 403, body: { message: "forbidden" } })).listen();
    const at = kubernetesExecutor(hostWith({ env: { CARILLON_KUBERNETES_URL: refused.url } }));
    await expect(run(at, payload)).rejects.toThrow("kubernetes answered 403");
    await refused.close();
    await expect(run(kubernetesExecutor(hostWith()), payload)).rejects.toThrow(NonRetryableError);
  });
});
