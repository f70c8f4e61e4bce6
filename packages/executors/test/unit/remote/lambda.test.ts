import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CarillonError } from "@carillon/core";
import { NonRetryableError, RetryAfterError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lambdaExecutor } from "../../../src/lambda/lambda-executor.js";
import { hostWith, type Line, run, toolsFolder } from "../fixture.js";
import { FakeServer, type Received, type Reply } from "./fake-server.js";

const credentials = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "session" };
const payload = { function: "report", event: { day: 1 } };

describe("lambda", () => {
  let server: FakeServer;
  let reply: Reply;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "carillon-lambda-"));
    server = await new FakeServer((request) => credentialsFor(request) ?? reply).listen();
    reply = { status: 200, body: { rows: 3 } };
    // The SDK reads the environment of the process; none of the machine's may be used.
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
    const files = { AWS_CONFIG_FILE: join(folder, "config"), AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials") };
    setEnv({ ...files, AWS_EC2_METADATA_DISABLED: "true" });
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const setEnv = (env: Record<string, string>): void => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  };
  const lambda = (over: Record<string, string> = {}) => {
    const env = { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL_LAMBDA: server.url, ...over };
    return lambdaExecutor(hostWith({ env }), { cwd: toolsFolder });
  };

  /** What the services that give out credentials answer: STS, a container's agent, an instance's metadata. */
  const credentialsFor = ({ path, method, body }: Received): Reply | null => {
    const given = { AccessKeyId: "AKIDROLE", SecretAccessKey: "secret", Expiration: "2099-01-01T00:00:00Z" };
    if (path === "/container") return { status: 200, body: { ...given, Token: "session" } };
    if (path === "/latest/api/token" && method === "PUT") return { status: 200, body: "token" };
    if (path.endsWith("/security-credentials/")) return { status: 200, body: "role" };
    if (path.endsWith("/security-credentials/role"))
      return { status: 200, body: { ...given, Code: "Success", Type: "AWS-HMAC", Token: "session" } };
    if (!String(body).includes("AssumeRoleWithWebIdentity")) return null;
    const members = Object.entries({ ...given, SessionToken: "session" });
    const xml = members.map(([name, value]) => `<${name}>${value}</${name}>`).join("");
    const result = `<AssumeRoleWithWebIdentityResult><Credentials>${xml}</Credentials></AssumeRoleWithWebIdentityResult>`;
    return { status: 200, body: `<AssumeRoleWithWebIdentityResponse>${result}</AssumeRoleWithWebIdentityResponse>` };
  };
  const invocation = () => server.received.find(({ path }) => path.startsWith("/2015-03-31/"));

  it("invokes the function with its event and the ids of the run, and returns its answer and its last log lines", async () => {
    setEnv(credentials);
    const tail = Buffer.from("START\nhello\n").toString("base64");
    reply = { ...reply, headers: { "x-amz-log-result": tail, "x-amz-executed-version": "7" } };
    const lines: Line[] = [];
    expect(await run(lambda(), { ...payload, qualifier: "live" }, { lines })).toEqual({
      status: 200,
      version: "7",
      answer: { rows: 3 },
    });
    expect(lines.map((line) => line.message)).toEqual(["START", "hello"]);
    const [request] = server.received;
    expect(request).toMatchObject({
      method: "POST",
      path: "/2015-03-31/functions/report/invocations",
      body: { day: 1 },
      headers: { "x-amz-invocation-type": "RequestResponse", "x-amz-security-token": "session" },
    });
    expect(request?.query.get("Qualifier")).toBe("live");
    expect(request?.headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/lambda\//,
    );
    const context = String(request?.headers["x-amz-client-context"]);
    expect(JSON.parse(Buffer.from(context, "base64").toString())).toMatchObject({
      custom: { run_id: "r1", idempotency_key: "r1", fence: 2 },
    });
  });

  it("takes the region of the payload before that of the worker", async () => {
    setEnv(credentials);
    await run(lambda(), { ...payload, region: "us-east-2" });
    expect(invocation()?.headers["authorization"]).toContain("/us-east-2/lambda/");
  });

  it.each([
    ["a profile", "AKIDPROFILE", () => ({ AWS_PROFILE: "batch" })],
    ["web identity", "AKIDROLE", () => webIdentity()],
    ["the agent of a container", "AKIDROLE", () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/container` })],
    ["the metadata of an instance", "AKIDROLE", () => instanceMetadata()],
  ])("finds credentials by %s", async (_source, accessKey, env) => {
    const profile = "[batch]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = secret\n";
    writeFileSync(join(folder, "credentials"), profile);
    setEnv(env());
    await run(lambda(), payload);
    expect(invocation()?.headers["authorization"]).toContain(`Credential=${accessKey}/`);
  });

  const webIdentity = (): Record<string, string> => {
    writeFileSync(join(folder, "token"), "jwt");
    const role = { AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/batch", AWS_ENDPOINT_URL_STS: server.url };
    return { ...role, AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, "token"), AWS_REGION: "eu-west-1" };
  };
  const instanceMetadata = (): Record<string, string> => ({
    AWS_EC2_METADATA_DISABLED: "false",
    AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url,
  });

  it("asks for credentials once for many runs", async () => {
    setEnv({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/container` });
    const executor = lambda();
    await run(executor, payload);
    await run(executor, payload);
    expect(server.calls.filter((call) => call.endsWith("/container"))).toHaveLength(1);
  });

  it("fails without credentials, and may be retried because their source may be away", async () => {
    const failed = run(lambda(), payload);
    await expect(failed).rejects.toThrow("Could not load credentials");
    await expect(failed).rejects.not.toBeInstanceOf(NonRetryableError);
    expect(server.received).toEqual([]);
  });

  it("fails for good without a region", async () => {
    setEnv(credentials);
    const executor = lambdaExecutor(hostWith(), { cwd: toolsFolder });
    const failed = run(executor, payload);
    await expect(failed).rejects.toThrow(NonRetryableError);
    await expect(failed).rejects.toThrow("There is no AWS region");
  });

  it("only queues the event at the service if the job asks for it", async () => {
    setEnv(credentials);
    reply = { status: 202 };
    expect(await run(lambda(), { ...payload, invocation: "async" })).toEqual({ status: 202 });
    expect(server.received[0]?.headers["x-amz-invocation-type"]).toBe("Event");
  });

  it("fails when the function fails, and may be retried", async () => {
    setEnv(credentials);
    const body = { errorType: "KeyError", errorMessage: "no day" };
    reply = { status: 200, body, headers: { "x-amz-function-error": "Unhandled" } };
    const failed = run(lambda(), payload);
    await expect(failed).rejects.toThrow("The function report failed: KeyError: no day");
    await expect(failed).rejects.not.toBeInstanceOf(NonRetryableError);
  });

  it("is retried after the time that the service asks for, and fails for good if the service refuses", async () => {
    setEnv(credentials);
    reply = { status: 429, headers: { "retry-after": "3" } };
    await expect(run(lambda(), payload)).rejects.toMatchObject({ constructor: RetryAfterError, afterMs: 3_000 });
    reply = { status: 404, headers: { "x-amzn-errortype": "ResourceNotFoundException" } };
    const refused = run(lambda(), payload);
    await expect(refused).rejects.toBeInstanceOf(NonRetryableError);
    await expect(refused).rejects.toThrow("Lambda answered 404 ResourceNotFoundException");
  });

  it("calls the service once per attempt, also if it fails", async () => {
    setEnv(credentials);
    reply = { status: 503 };
    const failed = run(lambda(), payload);
    await expect(failed).rejects.toThrow("Lambda answered 503");
    await expect(failed).rejects.not.toBeInstanceOf(NonRetryableError);
    expect(server.received).toHaveLength(1);
  });

  it("ends the call when its signal fires", async () => {
    setEnv(credentials);
    const controller = new AbortController();
    const slow = await new FakeServer(() => {
      controller.abort(new Error("stop now"));
      return { status: 200 };
    }).listen();
    const sent = run(lambda({ AWS_ENDPOINT_URL_LAMBDA: slow.url }), payload, { signal: controller.signal });
    await expect(sent).rejects.toThrow("stop now");
    await slow.close();
  });

  it("refuses to be created without the AWS SDK, with the package to install", () => {
    const create = () => lambdaExecutor(hostWith(), { cwd: folder });
    expect(create).toThrow(CarillonError);
    expect(create).toThrow("npm install @aws-sdk/client-lambda@3");
  });
});
