import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const job = (over: object) => ({
  id: "job_1",
  key: "k",
  state: "active",
  status: "scheduled",
  last_run: null,
  ...over,
});
const pause = { reason: "it's down", until: "2030-01-01T00:00:00.000Z", missed: "latest", at: "x", actor: null };

/** The undo that a command prints if the thing was in this state before. */
async function said(argv: readonly string[], before: object, after: object = before): Promise<string> {
  serveBy(({ method }) => ({ body: method === "GET" ? before : after }));
  const io = fakeIo();
  expect(await runCli([...argv], io)).toBe(0);
  return io.said.join("\n");
}

describe("the printed undo brings back all that was there", () => {
  it("the undo of job resume restores the reason, the end and the missed choice of the pause", async () => {
    const text = await said(["job", "resume", "k"], job({ state: "paused", pause }), { job: job({}), missed: 2 });
    expect(text).toBe(
      String.raw`carillon: resumed; 2 occurrences inside the pause; undo with: carillon job pause @k --reason 'it'\''s down' --until 2030-01-01T00:00:00.000Z --missed latest`,
    );
  });

  it("the undo of a second job pause restores the first", async () => {
    const text = await said(["job", "pause", "k", "--for", "1h"], job({ state: "paused", pause }));
    expect(text).toContain("undo with: carillon job pause @k --reason");
    const queue = { name: "q", order: "fifo", bound: null, paused: true, pause: { ...pause, missed: undefined } };
    expect(await said(["queue", "resume", "q"], queue)).toContain("carillon queue pause q --reason");
    expect(await said(["queue", "pause", "q"], queue)).toContain("undo with: carillon queue pause q --reason");
  });

  it("the undo of a pause leaves out an end in the past", async () => {
    const over = { ...pause, reason: null, missed: "none", until: "2020-01-01T00:00:00.000Z" };
    const text = await said(["job", "resume", "k"], job({ state: "paused", pause: over }), { job: job({}), missed: 1 });
    expect(text).toMatch(/carillon job pause @k$/);
  });

  it("a change without an effect prints that nothing changed", async () => {
    expect(await said(["job", "resume", "k"], job({}), { job: job({}), missed: 0 })).toBe(
      "carillon: nothing changed: it was not paused",
    );
    const queue = { name: "q", order: "fifo", bound: null, paused: false, pause: null };
    expect(await said(["queue", "resume", "q"], queue)).toBe("carillon: nothing changed: it was not paused");
    for (const noun of ["backfill", "operation"])
      expect(await said([noun, "abort", "x_1"], { id: "x_1", state: "done", failures: [] })).toBe(
        "carillon: nothing changed: it is done",
      );
    for (const verb of ["cancel", "delete"])
      expect(await said(["job", verb, "k"], job({ state: "completed" }))).toBe(
        "carillon: nothing changed: it was completed before",
      );
  });

  it("the undo of job cancel works for a job without a key", async () => {
    const text = await said(["job", "cancel", "job_1"], job({ key: null }));
    expect(text).toContain("undo with: carillon job export job_1 -o jsonl | carillon api /v1/jobs -d -");
  });

  it("the undo of profile delete restores the namespace, the missing key and the profile in use", async () => {
    const home = mkdtempSync(join(tmpdir(), "carillon-undo-of-"));
    try {
      serveBy(() => ({ body: { version: "1", jobs: [], next_page_token: null } }));
      const io = () => fakeIo({ env: { XDG_CONFIG_HOME: home } });
      const login = ["login", "http://127.0.0.1:1", "--no-key", "--profile"];
      await runCli([...login, "one", "--namespace", "billing"], io());
      await runCli([...login, "two"], io());
      const removed = io();
      await runCli(["profile", "delete", "one"], removed);
      expect(removed.said).toEqual([
        "carillon: deleted; undo with: carillon login http://127.0.0.1:1 --profile one --namespace billing --no-key && carillon profile use two",
      ]);
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});
