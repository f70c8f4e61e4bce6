import { Writable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { logEngineEvent } from "../../../src/services/event-log.js";
import { createLogger } from "../../../src/services/logger.js";

/** A logger, and the lines that it has written. */
function logged(logFormat: "json" | "pretty" = "json") {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(...String(chunk).trimEnd().split("\n"));
      done();
    },
  });
  const logger = createLogger({ logLevel: "debug", logFormat }, { stream, isTerminal: false, colour: false });
  return { logger, lines, entry: () => JSON.parse(lines.at(-1) ?? "null") as Record<string, unknown> };
}

describe("the log", () => {
  it("a log entry is one line of JSON with level, time, component, msg and its members", () => {
    const { logger, entry } = logged();
    logger.child({ component: "api" }).warn({ request_id: "req_1", status: 503 }, "request failed");
    expect(entry()).toEqual({
      level: 40,
      time: expect.any(Number) as number,
      component: "api",
      request_id: "req_1",
      status: 503,
      msg: "request failed",
    });
  });

  it("the log names runs and jobs like the API", () => {
    const { logger, entry } = logged();
    const id = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";
    const run = { namespaceId: 1, runId: id, jobId: id, task: "echo", queue: "default" };
    logEngineEvent(logger, { type: "run.retrying", ...run, delayMs: 5 });
    expect(entry()).toMatchObject({
      component: "engine",
      msg: "run.retrying",
      run_id: expect.stringMatching(/^run_[0-9a-z]{26}$/) as string,
      job_id: expect.stringMatching(/^job_[0-9a-z]{26}$/) as string,
      task: "echo",
      delayMs: 5,
    });
    expect(entry()).not.toHaveProperty("runId");
  });

  it("the log names nodes and backfills like the API", () => {
    const { logger, entry } = logged();
    const id = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";
    const node = expect.stringMatching(/^node_[0-9a-z]{26}$/) as string;
    logEngineEvent(logger, { type: "node.lost", nodeId: id, name: "b", detection: "heartbeat_timeout" });
    expect(entry()).toMatchObject({ msg: "node.lost", node_id: node, name: "b" });
    logEngineEvent(logger, {
      type: "shards.taken_over",
      namespaceId: null,
      nodeId: id,
      fromNodeId: id,
      shards: 64,
      takeoverMs: 1,
    });
    expect(entry()).toMatchObject({ msg: "shards.taken_over", from_node_id: node });
    logEngineEvent(logger, { type: "backfill.ended", backfillId: id, jobId: id, state: "done", reason: null });
    expect(entry()).toMatchObject({ backfill_id: expect.stringMatching(/^bkf_/) as string });
  });

  it("cluster events are logged on info, and on debug with an embedded database", () => {
    const { logger, entry } = logged();
    logEngineEvent(logger, { type: "shards.acquired", count: 64 });
    expect(entry()).toMatchObject({ level: 30, msg: "shards.acquired" });
    logEngineEvent(logger, { type: "shards.acquired", count: 64 }, { isOnlyNode: true });
    expect(entry()).toMatchObject({ level: 20, msg: "shards.acquired" });
    logEngineEvent(logger, { type: "shards.lost", count: 1 }, { isOnlyNode: true });
    expect(entry()).toMatchObject({ level: 40 });
  });

  it.each(["json", "pretty"] as const)("the log never shows a secret (%s)", async (format) => {
    const { logger, lines } = logged(format);
    const secrets = { password: "hunter2", deeper: { token: "hunter2", authorization: "Bearer hunter2hunter2" } };
    logger.info(secrets, "cannot reach postgres://carillon:hunter2@db:5432/app?sslpassword=hunter2&x=1");
    logger.error({ err: new Error("refused by amqp://me:hunter2@host") }, "Authorization: Bearer hunter2hunter2");
    logger.info({ path: "/v1/callbacks/hunter2" }, "secret whsec_hunter2 of an endpoint");
    // One entry after the other, so that their order is known.
    await vi.waitFor(() => expect(lines.join("\n")).toContain("of an endpoint"));
    const text = lines.join("\n");
    expect(text).not.toContain("hunter2");
    expect(text).toContain("postgres://carillon:***@db:5432/app?sslpassword=***&x=1");
    expect(text).toContain("/v1/callbacks/***");
  });
});
