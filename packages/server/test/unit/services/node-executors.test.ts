import type { TaskContext } from "@carillon/worker";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../../src/config/resolve.js";
import { nodeExecutors, payloadFaults } from "../../../src/services/worker-service.js";

const { config } = resolveConfig({ flags: {}, env: {}, file: null, cwd: "/" });
const executors = (env: Record<string, string> = {}, over: Partial<typeof config> = {}) =>
  nodeExecutors({ ...config, ...over }, env, { url: () => null, mailbox: null });

describe("the executors of a node", () => {
  it("a node has the executor http, and email if a mail server is configured; none without slots", () => {
    expect(executors().map(({ name }) => name)).toEqual(["http"]);
    expect(executors({ CARILLON_SMTP_URL: "smtp://mail" }).map(({ name }) => name)).toEqual(["http", "email"]);
    expect(executors({}, { workerSlots: 0 })).toEqual([]);
  });

  it("executors connect to no private address that is not on the allowlist", async () => {
    const [http] = executors();
    const runId = "01890000-0000-7000-8000-000000000001";
    const context = { runId, jobId: null, scheduledFor: 0, signal: new AbortController().signal } as TaskContext;
    const sent = Promise.resolve(http?.run({ url: "http://127.0.0.1:1/" }, context));
    await expect(sent).rejects.toThrow("127.0.0.1 is not a public address");
  });

  it("refuses an invalid entry of the allowlist", () => {
    expect(() => executors({}, { outboundAllowlist: ["10.0.0.0/99"] })).toThrow("10.0.0.0/99");
  });

  it("executors validate their own payloads and no others", () => {
    const faults = payloadFaults(executors());
    expect(faults("http", {})).toMatchObject([{ pointer: "/url" }]);
    expect(faults("own", {})).toEqual([]);
  });
});
