import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lintNames, parseExposition } from "../../../server/test/unit/metrics/exposition.js";
import { call, startDev } from "../process/server.js";
import { scratchDir } from "../process/scratch.js";
import { storedDataDir } from "../process/stored-data-dir.js";

const promtoolIsInstalled = spawnSync("sh", ["-c", "command -v promtool"]).status === 0;
if (!promtoolIsInstalled) {
  console.log(
    "promtool's own check of the metrics is skipped: it is not installed (as root: scripts/servers/promtool.sh install)",
  );
}

function promtool(args: readonly string[], input = ""): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", ...args], { input, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

const fine = { status: 0, said: "" };

describe("the metrics of a busy server", () => {
  it("the metrics of a busy server are valid for Prometheus, and count its work", async () => {
    const { process, url } = await startDev(await storedDataDir());
    const wait = (run: object) => call(`${url}/v1/runs?wait=20s`, run);
    await call(`${url}/v1/jobs`, { key: "tick", task: "echo", schedule: { every: "1s" } });
    const ended = await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => wait({ task: "echo", payload: index, queue: `q${index % 3}` })),
      wait({ task: "fail", retry: { max_attempts: 2, initial: "1ms", backoff: "fixed" } }),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 201));
    await call(`${url}/v1/runs`, { task: 7 });
    await process.line(/"run.fired"/);

    const text = await (await fetch(`${url}/metrics`)).text();
    const families = parseExposition(text);
    expect(lintNames(families.values())).toEqual([]);
    const sum = (name: string) => (families.get(name)?.samples ?? []).reduce((total, { value }) => total + value, 0);
    expect(sum("carillon_runs_finished_total")).toBeGreaterThanOrEqual(21);
    expect(sum("carillon_runs_retried_total")).toBe(1);
    expect(sum("carillon_fires_total")).toBeGreaterThanOrEqual(1);
    expect(sum("carillon_http_problems_total")).toBe(1);
    expect(sum("carillon_worker_slots")).toBeGreaterThan(0);
    expect(sum("carillon_shards_owned")).toBe(1_024);
    expect(sum("carillon_database_up")).toBe(1);
    const judged = promtoolIsInstalled ? promtool(["metrics"], text) : fine;
    expect(judged).toEqual(fine);
    expect(await process.stop()).toEqual({ code: 0, signal: null });
  });

  it.skipIf(!promtoolIsInstalled)("the alerts in the observability guide are valid for Prometheus", async () => {
    const guide = await readFile(new URL("../../../../docs/guides/observability.md", import.meta.url), "utf8");
    const file = join(await scratchDir(), "rules.yml");
    const rules = /```yaml\n(groups:[\s\S]*?)```/.exec(guide)?.[1] ?? "";
    await writeFile(file, rules);
    const count = rules.match(/- alert:/g)?.length ?? 0;
    expect(count).toBeGreaterThan(0);
    const { status, said } = promtool(["rules", file]);
    expect({ status, said }).toEqual({ status: 0, said: expect.stringContaining(`${count} rules found`) as string });
  });
});
