import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerExecutor } from "../../../src/docker/docker-executor.js";
import { NonRetryableError, RunStoppedError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith, type Line, run } from "../fixture.js";
import { certificates, FakeServer, type Received, type Reply } from "./fake-server.js";

/** An engine with containers by name; each ends at its nth inspection. */
class FakeEngine {
  readonly containers = new Map<string, { status: string; inspections: number; exitCode: number; body: unknown }>();
  images = new Set(["alpine:3"]);
  exitCode = 0;
  inspectionsToEnd = 2;
  onInspect: () => void = () => undefined;

  answer({ method, path, query, body }: Received): Reply {
    const at = path.replace("/v1.41", "");
    if (at === "/images/create") {
      this.images.add(query.get("fromImage") ?? "");
      return { status: 200, body: '{"status":"done"}\n' };
    }
    if (at === "/containers/create") return this.#create(query.get("name") ?? "", body as { Image: string });
    const [, name = "", verb] = /^\/containers\/([^/]+)(?:\/(\w+))?$/.exec(at) ?? [];
    const found = this.containers.get(name);
    if (found === undefined) return { status: 404, body: { message: `no such container ${name}` } };
    if (method === "DELETE") this.containers.delete(name);
    if (verb === "start") found.status = "running";
    if (verb === "stop") found.status = "exited";
    if (verb === "logs") return { status: 200, body: logs };
    if (verb !== "json") return { status: 204 };
    this.onInspect();
    if (found.status === "running" && ++found.inspections >= this.inspectionsToEnd) found.status = "exited";
    const { status: Status, exitCode: ExitCode } = found;
    return { status: 200, body: { State: { Status, ExitCode, OOMKilled: ExitCode === 137 } } };
  }

  #create(name: string, body: { Image: string }): Reply {
    if (this.containers.has(name)) return { status: 409, body: { message: "in use" } };
    if (!this.images.has(body.Image)) return { status: 404, body: { message: "no such image" } };
    this.containers.set(name, { status: "created", inspections: 0, exitCode: this.exitCode, body });
    return { status: 201 };
  }
}

function frame(stream: 1 | 2, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

const logs = Buffer.concat([
  frame(1, "2026-01-01T00:00:00.000000001Z hello\n"),
  frame(2, "2026-01-01T00:00:00.000000002Z oops\n"),
]);

describe("docker", () => {
  let engine: FakeEngine;
  let server: FakeServer;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "carillon-docker-"));
    engine = new FakeEngine();
    server = await new FakeServer((request) => engine.answer(request)).listen(join(folder, "docker.sock"));
  });
  afterEach(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const docker = () => dockerExecutor(hostWith({ env: { DOCKER_HOST: `unix://${folder}/docker.sock` } }));
  const payload = { image: "alpine:3", command: ["true"], poll_every: "1ms" };
  const name = "carillon-r1-1";

  it("runs a container to its end, logs its lines once, and removes it", async () => {
    const lines: Line[] = [];
    const over = { ...payload, env: { A: "1" }, secret_env: { B: "token" }, cpus: 0.5, memory_bytes: 67_108_864 };
    expect(await run(docker(), over, { lines })).toEqual({ exit_code: 0 });
    expect(lines).toEqual([
      { level: "info", message: "hello" },
      { level: "warn", message: "oops" },
    ]);
    expect(server.received[0]).toMatchObject({
      body: {
        Image: "alpine:3",
        Cmd: ["true"],
        Env: expect.arrayContaining(["A=1", "B=s3cret-value", "CARILLON_RUN_ID=r1", "CARILLON_FENCE=2"]) as unknown,
        HostConfig: { Memory: 67_108_864, NanoCpus: 500_000_000 },
      },
    });
    expect(engine.containers.size).toBe(0);
  });

  it("pulls a missing image, unless the job forbids it", async () => {
    engine.images.clear();
    const never = run(docker(), { ...payload, pull: "never" });
    await expect(never).rejects.toThrow(new NonRetryableError("There is no image alpine:3."));
    expect(await run(docker(), payload)).toEqual({ exit_code: 0 });
    expect(server.calls).toContain("POST /v1.41/images/create");
  });

  it("adopts the container that a lost worker started, and starts no second one", async () => {
    engine.containers.set(name, { status: "running", inspections: 0, exitCode: 0, body: {} });
    expect(await run(docker(), payload)).toEqual({ exit_code: 0 });
    expect(server.calls).not.toContain(`POST /v1.41/containers/${name}/start`);
  });

  it("reports the exit code of an adopted container that has ended, and does not start it again", async () => {
    engine.containers.set(name, { status: "exited", inspections: 0, exitCode: 3, body: {} });
    await expect(run(docker(), payload)).rejects.toThrow("ended with code 3");
    expect(server.calls).not.toContain(`POST /v1.41/containers/${name}/start`);
  });

  it("removes the container of the attempt before", async () => {
    engine.containers.set(name, { status: "running", inspections: 0, exitCode: 0, body: {} });
    await run(docker(), payload, { attempt: 2 });
    expect(server.calls[0]).toBe(`DELETE /v1.41/containers/${name}`);
  });

  it("fails with the exit code of the container", async () => {
    engine.exitCode = 137;
    await expect(run(docker(), payload)).rejects.toThrow(
      "The container of alpine:3 ended with code 137, out of memory.",
    );
  });

  it.each([
    ["timeout", false],
    ["cancelled_by_user", false],
    ["drain", true],
    ["session_lost", true],
  ])("after a stop for %s, the container still exists: %s", async (reason, isLeft) => {
    engine.inspectionsToEnd = Infinity;
    const controller = new AbortController();
    engine.onInspect = () => controller.abort(new RunStoppedError(reason));
    await expect(run(docker(), payload, { signal: controller.signal })).rejects.toThrow(RunStoppedError);
    expect(engine.containers.has(name)).toBe(isLeft);
  });

  it("fails for good if the engine refuses a request, and may be retried if the engine is away", async () => {
    const refused = await new FakeServer(() => ({ status: 400, body: { message: "bad parameter" } })).listen();
    const at = (url: string) => dockerExecutor(hostWith({ env: { DOCKER_HOST: url.replace("http:", "tcp:") } }));
    const bad = run(at(refused.url), payload);
    await expect(bad).rejects.toThrow("Docker answered 400 to POST /containers/create: bad parameter");
    await expect(bad).rejects.toBeInstanceOf(NonRetryableError);
    await refused.close();
    await expect(run(at("http://127.0.0.1:1"), payload)).rejects.not.toBeInstanceOf(NonRetryableError);
  });

  describe("engines", () => {
    let secure: FakeServer;
    beforeEach(async () => {
      secure = await new FakeServer((request) => engine.answer(request), { isMutual: true }).listen();
    });
    afterEach(() => secure.close());

    const runWith = (env: Record<string, string>) => run(dockerExecutor(hostWith({ env })), payload);
    const tcp = () => secure.url.replace("https:", "tcp:");

    it("finds the engine at DOCKER_HOST, with the client certificate in DOCKER_CERT_PATH", async () => {
      const env = { DOCKER_HOST: tcp(), DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: certificates };
      expect(await runWith(env)).toEqual({ exit_code: 0 });
      await expect(runWith({ ...env, DOCKER_CERT_PATH: folder })).rejects.toThrow("certificate");
    });

    /** A context as `docker context create` stores it. */
    const addContext = (context: string, endpoint: object): string => {
      const id = createHash("sha256").update(context).digest("hex");
      mkdirSync(join(folder, "contexts/meta", id), { recursive: true });
      const meta = { Name: context, Endpoints: { docker: endpoint } };
      writeFileSync(join(folder, "contexts/meta", id, "meta.json"), JSON.stringify(meta));
      return join(folder, "contexts/tls", id, "docker");
    };

    it("finds the engine by the context that DOCKER_CONTEXT or the configuration of the docker command names", async () => {
      cpSync(certificates, addContext("build", { Host: tcp(), SkipTLSVerify: false }), { recursive: true });
      addContext("colima", { Host: `unix://${folder}/docker.sock` });
      writeFileSync(join(folder, "config.json"), JSON.stringify({ currentContext: "colima" }));
      expect(await runWith({ DOCKER_CONFIG: folder, DOCKER_CONTEXT: "build" })).toEqual({ exit_code: 0 });
      expect([secure.received.length > 0, server.received.length]).toEqual([true, 0]);
      expect(await runWith({ DOCKER_CONFIG: folder })).toEqual({ exit_code: 0 });
      expect(server.received.length).toBeGreaterThan(0);
    });

    it.each([
      [{ DOCKER_CONTEXT: "gone" }, 'no Docker context "gone"'],
      [{ DOCKER_HOST: "ssh://build" }, "for ssh://, forward the socket"],
    ])("fails for good without an engine that it can use: %j", async (env, message) => {
      const failed = runWith({ DOCKER_CONFIG: folder, ...env });
      await expect(failed).rejects.toBeInstanceOf(NonRetryableError);
      await expect(failed).rejects.toThrow(message);
    });
  });

  it.each([
    [{}, "/image"],
    [{ image: "a b" }, "/image"],
    [{ image: "a", cpus: 0 }, "/cpus"],
    [{ image: "a", privileged: true }, "/privileged"],
  ])("refuses the payload %j at %s", (wrong, pointer) => {
    const found = docker().check(wrong);
    expect(found.map((fault) => fault.pointer)).toContain(pointer);
  });
});
