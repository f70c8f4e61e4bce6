import { lambdaExecutor, signV4 } from "../../../src/lambda/lambda-executor.js";
import { NonRetryableError, RetryAfterError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith, type Line, run } from "../fixture.js";
import { type Said, StandIn } from "./stand-in.js";

const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };

describe("a signature", () => {
  it("is the one that the published example has", () => {
    const url = new URL("https://example.amazonaws.com/");
    const at = Date.UTC(2015, 7, 30, 12, 36, 0);
    const what = { method: "GET", url, headers: {}, body: "", region: "us-east-1", service: "service", at };
    expect(signV4(what, credentials)["authorization"]).toBe(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, " +
        "SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    );
  });
});

describe("lambda", () => {
  let server: StandIn;
  let said: Said;
  beforeEach(async () => {
    server = await new StandIn(() => said).listen();
  });
  afterEach(() => server.close());

  const lambda = (over: Record<string, string> = {}) =>
    lambdaExecutor(
      hostWith({
        env: {
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
          AWS_SESSION_TOKEN: "session",
          AWS_REGION: "eu-west-1",
          AWS_ENDPOINT_URL_LAMBDA: server.url,
          ...over,
        },
      }),
    );
  const payload = { function: "report", event: { day: 1 } };

  it("calls the function with its event, names the run, and answers what it answers, with its last lines", async () => {
    const tail = Buffer.from("START\nhello\n").toString("base64");
    said = { status: 200, body: { rows: 3 }, headers: { "x-amz-log-result": tail, "x-amz-executed-version": "7" } };
    const lines: Line[] = [];
    expect(await run(lambda(), { ...payload, qualifier: "live" }, { lines })).toEqual({
      status: 200,
      version: "7",
      answer: { rows: 3 },
    });
    expect(lines.map((line) => line.message)).toEqual(["START", "hello"]);
    const [asked] = server.asked;
    expect(asked).toMatchObject({
      method: "POST",
      path: "/2015-03-31/functions/report/invocations",
      body: { day: 1 },
      headers: { "x-amz-invocation-type": "RequestResponse", "x-amz-security-token": "session" },
    });
    expect(asked?.query.get("Qualifier")).toBe("live");
    expect(asked?.headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260101\/eu-west-1\/lambda\//,
    );
    const context = String(asked?.headers["x-amz-client-context"]);
    expect(JSON.parse(Buffer.from(context, "base64").toString())).toMatchObject({
      custom: { run_id: "r1", idempotency_key: "r1", fence: 2 },
    });
  });

  it("only leaves an event with the service when it is told so", async () => {
    said = { status: 202 };
    expect(await run(lambda(), { ...payload, invocation: "async" })).toEqual({ status: 202 });
    expect(server.asked[0]?.headers["x-amz-invocation-type"]).toBe("Event");
  });

  it("fails when the function does, and is tried again", async () => {
    const body = { errorType: "KeyError", errorMessage: "no day" };
    said = { status: 200, body, headers: { "x-amz-function-error": "Unhandled" } };
    const failed = run(lambda(), payload);
    await expect(failed).rejects.toThrow("report failed: KeyError: no day");
    await expect(failed).rejects.not.toBeInstanceOf(NonRetryableError);
  });

  it("waits as long as the service asks for, and ends for good at what it refuses", async () => {
    said = { status: 429, headers: { "retry-after": "3" } };
    await expect(run(lambda(), payload)).rejects.toMatchObject({ constructor: RetryAfterError, afterMs: 3_000 });
    said = { status: 404, headers: { "x-amzn-errortype": "ResourceNotFoundException" } };
    await expect(run(lambda(), payload)).rejects.toBeInstanceOf(NonRetryableError);
  });

  it("ends the call when its signal fires", async () => {
    const controller = new AbortController();
    const slow = await new StandIn(() => {
      controller.abort(new Error("stop now"));
      return { status: 200 };
    }).listen();
    const sent = run(lambda({ AWS_ENDPOINT_URL_LAMBDA: slow.url }), payload, { signal: controller.signal });
    await expect(sent).rejects.toThrow("stop now");
    await slow.close();
  });
});
