import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { kubernetesExecutor } from "../../../src/kubernetes/kubernetes-executor.js";
import { CarillonError } from "@carillon/core";
import { NonRetryableError, RunStoppedError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith, type Line, run, toolsFolder } from "../fixture.js";
import { certificates, FakeServer, type Received, type Reply } from "./fake-server.js";

const jobs = "/apis/batch/v1/namespaces/batch/jobs";
const pods = "/api/v1/namespaces/batch/pods";

/** A cluster with Jobs by name; each ends at its nth poll. */
class FakeCluster {
  readonly jobs = new Map<string, number>();
  pollsToEnd = 2;
  failsWith: number | null = null;
  onPoll: () => void = () => undefined;

  answer({ method, path, body }: Received): Reply {
    if (path === `${pods}/pod-1/log`) return { status: 200, body: "2026-01-01T00:00:00.000000001Z hello\n" };
    if (path === pods) return { status: 200, body: this.#pods() };
    if (method === "POST") return this.#create((body as { metadata: { name: string } }).metadata.name);
    const name = path.slice(jobs.length + 1);
    const polls = this.jobs.get(name);
    if (polls === undefined) return { status: 404, body: { message: "not found" } };
    if (method === "DELETE") return { status: this.jobs.delete(name) ? 200 : 404 };
    this.onPoll();
    this.jobs.set(name, polls + 1);
    if (polls + 1 < this.pollsToEnd) return { status: 200, body: { status: { active: 1 } } };
    const type = this.failsWith === null ? "Complete" : "Failed";
    return { status: 200, body: { status: { conditions: [{ type, status: "True", message: "" }] } } };
  }

  #create(name: string): Reply {
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
  let server: FakeServer;
  beforeEach(async () => {
    cluster = new FakeCluster();
    server = await new FakeServer((request) => cluster.answer(request)).listen();
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
    expect(server.received[0]).toMatchObject({
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

  it("adopts the Job that a lost worker started", async () => {
    cluster.jobs.set(name, 0);
    expect(await run(kubernetes(), payload)).toEqual({ job: name, exit_code: 0 });
    expect([...cluster.jobs.keys()]).toEqual([name]);
  });

  it("deletes the Job of the attempt before", async () => {
    cluster.jobs.set(name, 0);
    await run(kubernetes(), payload, { attempt: 2 });
    expect([...cluster.jobs.keys()]).toEqual(["carillon-r1-2"]);
  });

  it("gives its Job a name that a cluster accepts", async () => {
    const runId = "run_01jfhc80000e000g0000000000";
    await run(kubernetes(), payload, { runId });
    expect([...cluster.jobs.keys()]).toEqual(["carillon-run-01jfhc80000e000g0000000000-1"]);
    expect(server.received[0]).toMatchObject({ body: { metadata: { labels: { "carillon.run": runId } } } });
  });

  it("fails with the exit code of its container", async () => {
    cluster.failsWith = 3;
    await expect(run(kubernetes(), payload)).rejects.toThrow(`The Job ${name} failed with code 3: Error`);
  });

  it.each([
    ["timeout", false],
    ["cancelled_by_user", false],
    ["drain", true],
  ])("after a stop for %s, the Job still exists: %s", async (reason, isLeft) => {
    cluster.pollsToEnd = Infinity;
    const controller = new AbortController();
    cluster.onPoll = () => controller.abort(new RunStoppedError(reason));
    await expect(run(kubernetes(), payload, { signal: controller.signal })).rejects.toThrow(RunStoppedError);
    expect(cluster.jobs.has(name)).toBe(isLeft);
  });

  it("fails for good if the cluster refuses a request, or if the worker knows no cluster", async () => {
    const refused = await new FakeServer(() => ({ status: 403, body: { message: "forbidden" } })).listen();
    const at = kubernetesExecutor(hostWith({ env: { CARILLON_KUBERNETES_URL: refused.url } }));
    await expect(run(at, payload)).rejects.toThrow("Kubernetes answered 403");
    await refused.close();
    await expect(run(kubernetesExecutor(hostWith()), payload)).rejects.toThrow(NonRetryableError);
  });

  describe("with a kubeconfig", () => {
    let secure: FakeServer;
    let folder: string;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "carillon-kubernetes-"));
      secure = await new FakeServer((request) => cluster.answer(request), { isMutual: true }).listen();
    });
    afterEach(async () => {
      await secure.close();
      rmSync(folder, { recursive: true });
    });

    /** A kubeconfig is YAML, so it may be JSON. */
    const kubeconfig = (user: object, address = secure.url): string => {
      const path = join(folder, "config");
      const ca = { "certificate-authority-data": readFileSync(join(certificates, "ca.pem")).toString("base64") };
      const context = { cluster: "main", user: "worker", namespace: "batch" };
      const config = {
        "current-context": "main",
        clusters: [{ name: "main", cluster: { server: address, ...ca } }],
        contexts: [{ name: "main", context }],
        users: [{ name: "worker", user }],
      };
      writeFileSync(path, JSON.stringify(config));
      return path;
    };
    const files = { "client-certificate": join(certificates, "cert.pem"), "client-key": join(certificates, "key.pem") };
    const runWith = (env: Record<string, string>) =>
      run(kubernetesExecutor(hostWith({ env }), { cwd: toolsFolder }), payload);

    it("uses the cluster, the namespace and the client certificate of a kubeconfig", async () => {
      expect(await runWith({ KUBECONFIG: kubeconfig(files) })).toEqual({ job: name, exit_code: 0 });
      expect(secure.received[0]).toMatchObject({ method: "POST", path: jobs });
    });

    it("gets credentials from the plugin of a kubeconfig, once for all requests of a run", async () => {
      const calls = join(folder, "calls");
      const status = {
        token: "t0ken",
        expirationTimestamp: "2099-01-01T00:00:00Z",
        clientCertificateData: readFileSync(files["client-certificate"], "utf8"),
        clientKeyData: readFileSync(files["client-key"], "utf8"),
      };
      const apiVersion = "client.authentication.k8s.io/v1";
      const plugin = join(folder, "plugin.cjs");
      writeFileSync(
        plugin,
        `require("node:fs").appendFileSync(process.env.CALLS, "x");
         console.log(${JSON.stringify(JSON.stringify({ apiVersion, kind: "ExecCredential", status }))});`,
      );
      const env = [{ name: "CALLS", value: calls }];
      const user = { exec: { apiVersion, command: process.execPath, args: [plugin], env, interactiveMode: "Never" } };
      expect(await runWith({ KUBECONFIG: kubeconfig(user) })).toEqual({ job: name, exit_code: 0 });
      expect(secure.received.every(({ headers }) => headers.authorization === "Bearer t0ken")).toBe(true);
      expect(readFileSync(calls, "utf8")).toBe("x");
    });

    it("appends the paths of the API to the path of the server, as a proxy of many clusters needs", async () => {
      const proxied = `${secure.url}/k8s/clusters/c-1`;
      await expect(runWith({ KUBECONFIG: kubeconfig(files, proxied) })).rejects.toThrow("Kubernetes answered");
      expect(secure.received[0]?.path).toBe(`/k8s/clusters/c-1${jobs}`);
    });

    it("reads several kubeconfigs, and ~/.kube/config if no setting names a cluster", async () => {
      const other = join(folder, "other");
      writeFileSync(other, JSON.stringify({ clusters: [], contexts: [], users: [] }));
      await runWith({ KUBECONFIG: [other, kubeconfig(files)].join(delimiter) });
      mkdirSync(join(folder, ".kube"));
      writeFileSync(join(folder, ".kube/config"), readFileSync(kubeconfig(files)));
      cluster.jobs.clear();
      expect(await runWith({ HOME: folder })).toEqual({ job: name, exit_code: 0 });
    });

    it("prefers CARILLON_KUBERNETES_URL to a kubeconfig, and needs no library for it", async () => {
      const env = { KUBECONFIG: kubeconfig(files), CARILLON_KUBERNETES_URL: server.url };
      const executor = kubernetesExecutor(hostWith({ env: { ...env, CARILLON_KUBERNETES_NAMESPACE: "batch" } }), {
        cwd: folder,
      });
      expect(await run(executor, payload)).toEqual({ job: name, exit_code: 0 });
    });

    it("refuses a kubeconfig without @kubernetes/client-node, with the version to install", () => {
      const create = () => kubernetesExecutor(hostWith({ env: { KUBECONFIG: kubeconfig(files) } }), { cwd: folder });
      expect(create).toThrow(CarillonError);
      expect(create).toThrow("npm install @kubernetes/client-node@1");
    });
  });

  it("trusts the CA of CARILLON_KUBERNETES_CA_FILE, and no server without it", async () => {
    const secure = await new FakeServer((request) => cluster.answer(request), { isMutual: true }).listen();
    const at = (env: Record<string, string>) =>
      run(kubernetesExecutor(hostWith({ env: { CARILLON_KUBERNETES_URL: secure.url, ...env } })), payload);
    // The server wants a client certificate as well, which it says only after its own was accepted.
    await expect(at({ CARILLON_KUBERNETES_CA_FILE: join(certificates, "ca.pem") })).rejects.toThrow(
      /certificate required/,
    );
    await expect(at({})).rejects.toThrow(/unable to verify|self-signed/);
    await secure.close();
  });
});
