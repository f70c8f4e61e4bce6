import { spawn } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { scratchDir } from "../process/scratch.js";

const shim = fileURLToPath(new URL("../../bin/carillon.js", import.meta.url));
const env = { PATH: process.env["PATH"] ?? "", CARILLON_SKIP_BUILD: "1" };

const question = (minute: number): string =>
  `${JSON.stringify({ expr: `${minute % 60} * * * *`, tz: "Europe/Paris", from: "2026-02-10T00:00:00Z", count: 3 })}\n`;

/** Runs a command with everything on its standard input at once. */
async function run(args: readonly string[], input: string, extra: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [shim, ...args], { env: { ...env, ...extra } });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr, code: await ended };
}

describe("offline commands", () => {
  it("cron next - answers many lines through pipes, in order", async () => {
    const questions = Array.from({ length: 20_000 }, (_, line) => question(line));
    const { stdout, stderr, code } = await run(["cron", "next", "-"], questions.join(""));
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    const answers = stdout.trimEnd().split("\n");
    expect(answers).toHaveLength(questions.length);
    for (const line of [0, 59, 60, 12_345]) {
      const first = `2026-02-10T0${line % 60 === 0 ? 1 : 0}:${String(line % 60).padStart(2, "0")}:00.000Z`;
      expect(JSON.parse(answers[line] ?? "").next[0]).toBe(first);
    }
  });

  it("cron next - ends without an error when its reader closes the pipe", async () => {
    const child = spawn(process.execPath, [shim, "cron", "next", "-"], { env });
    const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    const stderr = text(child.stderr);
    child.stdin.on("error", () => {});
    child.stdin.write(question(1));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.stdout.destroy();
    child.stdin.write(question(2).repeat(1_000));
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await stderr).toBe("");
  });

  it("offline commands load neither the server nor the database driver", async () => {
    const folder = await scratchDir();
    await run(["cron", "next", "@daily"], "", { NODE_V8_COVERAGE: folder });
    const [report = ""] = await readdir(folder);
    const loaded = await readFile(`${folder}/${report}`, "utf8");
    expect(loaded).toContain("/packages/core/dist/");
    expect(loaded).not.toMatch(
      /\/packages\/(server|engine|worker|embedded-postgres)\/dist|node_modules\/(pg|fastify|pino|typebox)\//,
    );
  });
});
