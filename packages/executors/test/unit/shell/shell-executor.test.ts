import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { NonRetryableError, RunStoppedError } from "@carillon/worker";
import { shellExecutor } from "../../../src/index.js";
import { hostWith, type Line, run } from "../fixture.js";

const node = process.execPath;
const folder = mkdtempSync(join(tmpdir(), "carillon-shell-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"], HOME: "/nowhere", HIDDEN: "not for commands" };
const shell = shellExecutor(hostWith({ env }), { cwd: folder });
const script = (code: string, more: object = {}) => ({ command: [node, "-e", code], ...more });

describe("shell", () => {
  it("runs a program with unchanged arguments, without a shell", async () => {
    const code = "console.log(JSON.stringify(process.argv.slice(1)))";
    const command = [node, "-e", code, "--", "$HOME; echo x", "* | cat"];
    expect(await run(shell, { command, output: "json" })).toMatchObject({
      exit_code: 0,
      stdout: ["$HOME; echo x", "* | cat"],
    });
  });

  it("runs the command with the variables that the worker passes on, those of the job and those of the run only", async () => {
    const payload = script("console.log(JSON.stringify([process.env, process.cwd()]))", {
      env: { LEVEL: "3" },
      secret_env: { PGPASSWORD: "token" },
      output: "json",
    });
    const { stdout } = (await run(shell, payload)) as { stdout: [Record<string, string>, string] };
    expect(stdout[0]).toEqual({
      PATH: env.PATH,
      HOME: "/nowhere",
      LEVEL: "3",
      PGPASSWORD: "***",
      CARILLON_RUN_ID: "r1",
      CARILLON_ATTEMPT: "1",
      CARILLON_FENCE: "2",
      CARILLON_IDEMPOTENCY_KEY: "r1",
    });
    expect(stdout[1]).toBe(folder);
  });

  it("logs the output of the command by lines, without its secrets", async () => {
    const lines: Line[] = [];
    const code = "console.log('one\\ntwo ' + process.env.S); console.error('oops'); process.stdout.write('end')";
    await run(shell, script(code, { secret_env: { S: "token" } }), { lines });
    expect(lines.filter((line) => line.level === "info").map((line) => line.message)).toEqual([
      "one",
      "two ***",
      "end",
    ]);
    expect(lines.filter((line) => line.level === "warn").map((line) => line.message)).toEqual(["oops"]);
  });

  it("returns the end of a long output", async () => {
    const payload = script("console.log('x'.repeat(200000)); console.log('last')", { max_output_bytes: 100 });
    expect(await run(shell, payload)).toMatchObject({ stdout: `${"x".repeat(94)}\nlast\n`, truncated: true });
  });

  it("fails with the last output of a command without success, for good at a fatal code", async () => {
    const failed = run(shell, script("console.error('no disk'); process.exit(3)"));
    await expect(failed).rejects.toThrow(`${node} ended with code 3: no disk`);
    await expect(failed).rejects.not.toBeInstanceOf(NonRetryableError);
    expect(await run(shell, script("process.exit(3)", { success_codes: [0, 3] }))).toMatchObject({ exit_code: 3 });
    const fatal = run(shell, script("process.exit(4)", { fatal_codes: [4] }));
    await expect(fatal).rejects.toBeInstanceOf(NonRetryableError);
  });

  it("fails for good if the program or the folder does not exist", async () => {
    await expect(run(shell, { command: ["no-such-program"] })).rejects.toThrow(NonRetryableError);
    await expect(run(shell, { command: [node], cwd: "/no/such/folder" })).rejects.toThrow(NonRetryableError);
  });

  it("writes stdin of the payload to the command", async () => {
    expect(await run(shell, { command: ["cat"], stdin: "hello" })).toMatchObject({ stdout: "hello" });
  });

  it("writes the upstream runs to the command if the job asks for them", async () => {
    const before = {
      runId: "u1",
      jobId: "j0",
      jobKey: "etl",
      status: "succeeded",
      reason: null,
      finishedAt: 0,
    } as const;
    const upstream = async () => [{ ...before, output: { rows: 3 }, isOutputCut: false, error: null }];
    const ended = run(shell, { command: ["cat"], upstream: true, output: "json" }, { upstream });
    expect(await ended).toMatchObject({ stdout: [{ job_key: "etl", status: "succeeded", output: { rows: 3 } }] });
    expect(shell.check({ command: ["cat"], upstream: true, stdin: "x" })).toMatchObject([{ pointer: "/upstream" }]);
    expect(shell.check({ command: ["cat"], upstream: "yes" })).toMatchObject([{ pointer: "/upstream" }]);
  });

  it("ends the whole process group when its signal fires, by TERM and then by KILL", async () => {
    const controller = new AbortController();
    const stop = new RunStoppedError("cancelled_by_user");
    // The command and its child both ignore the first signal.
    const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
    const file = join(folder, "child.pid");
    const parent =
      `const c = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${stubborn} console.log('up')`)}], {stdio: ['ignore', 'pipe', 'inherit']});` +
      `c.stdout.once('data', () => { require('fs').writeFileSync(${JSON.stringify(file)}, String(c.pid)); console.log('ready'); });` +
      stubborn;
    const lines: Line[] = [];
    const isReady = new Promise<void>((resolve) => {
      lines.push = (...more) => {
        if (more.some((line) => line.message === "ready")) resolve();
        return more.length;
      };
    });
    const running = run(shell, script(parent, { kill_grace: "100ms" }), { signal: controller.signal, lines });
    await isReady;
    controller.abort(stop);
    await expect(running).rejects.toBe(stop);
    const childPid = Number(readFileSync(file, "utf8"));
    await gone(childPid);
  });

  it("ends processes that a command left in its group", async () => {
    const file = join(folder, "left.pid");
    const code =
      "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {stdio: 'inherit'});" +
      `require('fs').writeFileSync(${JSON.stringify(file)}, String(c.pid)); process.exit(0)`;
    expect(await run(shell, script(code))).toMatchObject({ exit_code: 0 });
    await gone(Number(readFileSync(file, "utf8")));
  });

  it.each([
    [{}, "/command"],
    [{ command: "", cwd: 3 }, "/cwd"],
    [{ command: [1] }, "/command"],
    [{ command: ["a\0b"] }, "/command"],
    [{ command: ["a"], env: { LD_PRELOAD: "x" } }, "/env"],
    [{ command: ["a"], env: { CARILLON_FENCE: "9" } }, "/env"],
    [{ command: ["a"], success_codes: [300] }, "/success_codes"],
    [{ command: ["a"], shell: true }, "/shell"],
  ])("refuses the payload %j at %s, and fails its run for good", async (payload, pointer) => {
    expect(shell.check(payload).map((fault) => fault.pointer)).toContain(pointer);
    await expect(run(shell, payload)).rejects.toBeInstanceOf(NonRetryableError);
  });
});

/** Resolves when the process is gone or a zombie. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    if (!isAlive(pid)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
