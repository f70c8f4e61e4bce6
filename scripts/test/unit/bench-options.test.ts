import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { scripts: Record<string, string> };
const benchmarks = Object.entries(scripts).flatMap(([name, command]) => {
  const [script] = /bench\/\S+\.mjs/.exec(command) ?? [];
  return script === undefined ? [] : [{ name, script }];
});

function run(script: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: root, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("the options of the benchmarks", () => {
  it.each(benchmarks)("npm run $name -- --help prints the usage, and starts nothing", ({ name, script }) => {
    const { status, stdout, stderr } = run(script, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain(`npm run ${name} `);
  });

  it.each(benchmarks)("npm run $name refuses an unknown option with exit code 64 and the usage", ({ name, script }) => {
    const { status, stdout, stderr } = run(script, "--nothing");
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toContain("--nothing");
    expect(stderr).toContain(`npm run ${name} `);
  });

  it("a benchmark refuses an unknown case and a count that is no number with exit code 64", () => {
    const unknown = run("bench/queue/bench.mjs", "--only", "drain,sleep");
    expect(unknown.status).toBe(64);
    expect(unknown.stderr).toMatch(/--only: there is no sleep; there are enqueue, drain, /);
    const wrong = run("bench/search/bench.mjs", "--rows", "many");
    expect(wrong.status).toBe(64);
    expect(wrong.stderr).toContain("--rows must be a number above 0, not many.");
  });
});
