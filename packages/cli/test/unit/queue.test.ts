import type { Queue, QueueStats } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const server = "http://127.0.0.1:8023/v1";
const at = "2030-01-01T00:00:00.000Z";
const queue = (over: Partial<Queue> = {}): Queue => ({
  name: "email",
  order: "priority",
  bound: "1h30m",
  concurrency: null,
  rate_limit: null,
  paused: false,
  pause: null,
  version: 1,
  created_at: at,
  updated_at: at,
  ...over,
});
const stats: QueueStats = {
  queued: 3,
  running: 1,
  oldest_due_at: at,
  wait_ms: 5_000,
  workers: 2,
  slots: 8,
  exact: true,
  lag_ms: 5_000,
  desired_workers: 1,
};

describe("carillon queue", () => {
  it("queue list prints state and order", async () => {
    serve({ queues: [queue(), queue({ name: "reports", order: "fifo", bound: "0s" })], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["queue", "list"], io)).toBe(0);
    expect(io.written()).toMatch(/email +open +priority +1h30m/);
    expect(io.written()).toMatch(/reports +open +fifo/);
  });

  it("queue get prints one queue with its load", async () => {
    const calls = serve(queue(), stats);
    const io = fakeIo();
    expect(await runCli(["queue", "get", "email"], io)).toBe(0);
    expect(calls.map(({ url }) => url)).toEqual([`${server}/queues/email`, `${server}/queues/email/stats`]);
    expect(io.written()).toContain("2, with 8 slots");
  });

  it("queue pause and resume send the reason, and print the undo", async () => {
    const pause = { reason: "down", actor: null, at, until: null };
    const paused = queue({ paused: true, pause });
    const calls = serve(queue(), paused, paused, queue());
    const [first, second] = [fakeIo(), fakeIo()];
    expect(await runCli(["queue", "pause", "email", "--reason", "down"], first)).toBe(0);
    expect(await runCli(["queue", "resume", "email"], second)).toBe(0);
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET ${server}/queues/email`,
      `POST ${server}/queues/email:pause`,
      `GET ${server}/queues/email`,
      `POST ${server}/queues/email:resume`,
    ]);
    expect(first.written()).toContain("paused (down)");
    expect(first.said.join()).toContain("carillon queue resume email");
  });

  it("queue update sets order and bound; usual is the order's own bound", async () => {
    const calls = serve(queue());
    expect(await runCli(["queue", "update", "email", "--order", "edf", "--bound", "usual"], fakeIo())).toBe(0);
    expect(calls.slice(1)).toEqual([
      { method: "PATCH", url: `${server}/queues/email`, body: { order: "edf", bound: null } },
    ]);
  });

  it("queue update refuses an unknown order as wrong usage", async () => {
    expect(await runCli(["queue", "update", "email", "--order", "lifo"], fakeIo())).toBe(2);
    expect(await runCli(["queue", "update", "email"], fakeIo())).toBe(2);
  });

  it("queue pause --for pauses for a time", async () => {
    const calls = serve(queue());
    expect(await runCli(["queue", "pause", "email", "--for", "2h"], fakeIo())).toBe(0);
    expect(calls.at(-1)?.body).toEqual({ for: "2h" });
  });

  it("queue purge cancels runs, follows the operation if there are many, or only counts with --dry-run", async () => {
    serve({ count: 5, more: false, dry_run: false });
    const few = fakeIo();
    expect(await runCli(["queue", "purge", "email"], few)).toBe(0);
    expect(few.written()).toBe("5\n");
    const counts = { seen: 1_000, failed: 0, skipped: 0, total: null, state_reason: null };
    const operation = { id: "op_1", action: "purge", state: "running", done: 1_000, ...counts };
    const calls = serve(operation, { ...operation, done: 2_000 }, { ...operation, done: 2_500, state: "done" });
    const many = fakeIo();
    expect(await runCli(["queue", "purge", "email", "--keep-delayed"], many)).toBe(0);
    expect(calls.map(({ url }) => url).slice(1)).toEqual([`${server}/operations/op_1`, `${server}/operations/op_1`]);
    expect([calls[0]?.body, many.written()]).toEqual([{ delayed: false }, "2500\n"]);
    expect(many.said.join()).toContain("2000 done");
    const counted = serve({ count: 7, more: false, dry_run: true });
    expect(await runCli(["queue", "purge", "email", "--dry-run"], fakeIo())).toBe(0);
    expect(counted[0]).toMatchObject({ url: `${server}/queues/email:purge`, body: { dry_run: true } });
  });
});
