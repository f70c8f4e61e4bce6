import { execFile, spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CarillonProcess } from "../process/carillon-process.js";
import { processesAt, scratchDir } from "../process/scratch.js";
import { call, createJob, startDev } from "../process/server.js";
import { storedDataDir } from "../process/stored-data-dir.js";

const run = promisify(execFile);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) {
  console.log("the test of the lines that carillon dev prints is skipped: curl is not installed, and they call it");
}

/** The log at its default level. */
function infos(stderr: string): string[] {
  const entries = stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return (entries as { level: number; msg: string }[]).filter(({ level }) => level === 30).map(({ msg }) => msg);
}

describe("carillon dev", () => {
  it.skipIf(!hasCurl)(
    "logs little before it is ready, and prints lines that work as printed: a job is created and its succeeded run is seen",
    async () => {
      const dataDir = join(await scratchDir(), "data");
      const { process } = await startDev(dataDir);
      await process.line(/Stop with Ctrl-C/);
      expect(infos(process.stderr)).toEqual([
        expect.stringContaining("making a new PostgreSQL") as string,
        "schema is up to date",
        expect.stringContaining("Server listening at") as string,
      ]);
      const [create = "", look = ""] = process.stdout.match(/^ {2}curl .*$/gm) ?? [];
      const created = JSON.parse((await run("sh", ["-c", create])).stdout);
      expect(created).toMatchObject({ task: "echo", payload: { hello: "world" } });
      await process.line(/"run.succeeded"/);
      const { runs } = JSON.parse((await run("sh", ["-c", look])).stdout);
      expect(runs).toMatchObject([{ job_id: created.id, status: "succeeded", output: { hello: "world" } }]);
      expect(process.stdout).toContain(dataDir);
      expect(process.stdout).toMatch(/PostgreSQL {2}\d+\.\d+, port \d+/);
      expect(await process.stop()).toEqual({ code: 0, signal: null });
      expect(await processesAt(dataDir)).toEqual([]);
    },
  );

  it("carillon dev refuses a data folder that another node uses, and does not disturb that node", async () => {
    const dataDir = await storedDataDir();
    const first = await startDev(dataDir);
    const second = new CarillonProcess(["dev", "--data-dir", dataDir, "--port", "0"]);
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect(second.stderr).toContain(dataDir);
    expect(second.stderr).toMatch(/in use|used by|runs/i);
    expect(second.stderr).not.toContain("fault of carillon");
    expect((await call(`${first.url}/readyz`)).status).toBe(200);
    await first.process.stop();
  });

  it("carillon dev names the process that has the port and takes the next one, and carillon server refuses", async () => {
    const dataDir = await storedDataDir();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const dev = await startDev(dataDir, ["--port", String(port)]);
    expect(Number(new URL(dev.url).port)).toBeGreaterThan(port);
    const owner = process.platform === "linux" ? ` by .*\\(pid ${process.pid}\\)` : "";
    expect(dev.process.stderr).toMatch(new RegExp(`port ${port} is in use${owner}; trying ${port + 1}`));
    await dev.process.stop();

    const server = new CarillonProcess(["server", "start", "--data-dir", dataDir, "--port", String(port)]);
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(
      new RegExp(`carillon: Port ${port} is in use${owner}: stop that process, or choose another port with --port`),
    );
    other.close();
  });

  it("carillon dev keeps jobs over a restart, and deletes them with --reset", async () => {
    const dataDir = await storedDataDir();
    const first = await startDev(dataDir);
    const id = await createJob(first.url, { task: "echo", schedule: { cron: "@yearly" } });
    await first.process.stop();

    const second = await startDev(dataDir);
    expect((await call(`${second.url}/v1/jobs/${id}`)).status).toBe(200);
    await second.process.stop();

    const third = await startDev(dataDir, ["--reset"]);
    expect((await call(`${third.url}/v1/jobs/${id}`)).status).toBe(404);
    await third.process.stop();
  });

  it("carillon dev --ephemeral leaves no files", async () => {
    const temporary = await scratchDir();
    const { process, url } = await startDev("ignored", ["--ephemeral"], { env: { TMPDIR: temporary } });
    expect((await call(`${url}/readyz`)).status).toBe(200);
    expect(await readdir(temporary)).toHaveLength(1);
    await process.stop();
    expect(await readdir(temporary)).toEqual([]);
  });

  it("commands, workers and the SDK find carillon dev on another port from its folder, and never the server of another folder", async () => {
    const [first, second] = [await scratchDir(), await scratchDir()];
    const port = await freePort();
    const other = await startDevIn(first, port);
    const mine = await startDevIn(second, port);
    expect(other.url).toBe(`http://127.0.0.1:${port}`);
    expect(mine.url).not.toBe(other.url);
    const [otherId, id] = [await createJob(other.url, echo), await createJob(mine.url, echo)];
    const below = join(second, "below");
    await mkdir(below);
    const found = await commandLine(below, "job", "list", "--json");
    expect(idsIn(found.stdout)).toEqual([id]);
    const byPort = await commandLine(below, { CARILLON_PORT: String(port) }, "job", "list", "--json");
    expect(idsIn(byPort.stdout)).toEqual([otherId]);
    expect(byPort.stderr).toContain(`the server at ${other.url} is that of ${first}; this folder has none`);

    await writeFile(join(second, "tasks.mjs"), 'export const hello = { name: "hello", run: () => "hi" };\n');
    const worker = new CarillonProcess(["worker", "start", "tasks.mjs"], { cwd: second });
    await worker.line(new RegExp(`^carillon: serving hello on \\* for ${mine.url}$`));
    expect(await sdkRun(below)).toBe("succeeded");
    await worker.stop();

    mine.process.kill("SIGKILL");
    await mine.process.ended;
    const killed = await commandLine(second, "job", "list");
    expect(killed).toMatchObject({ code: 1, stdout: "" });
    expect(killed.stderr).toMatch(new RegExp(`The server of ${second} was ${mine.url} .*carillon dev`));
    const again = await startDevIn(second, port);
    const left = idsIn((await commandLine(second, "job", "list", "--json")).stdout);
    expect(left).toContain(id);
    expect(left).not.toContain(otherId);
    await again.process.stop();
    expect((await readdir(join(second, ".carillon"))).filter((name) => name.startsWith("node."))).toEqual([]);
    await other.process.stop();
  });

  it("carillon dev catches mails, says so, keeps them over a restart, and shows them by command and by HTTP", async () => {
    const folder = await scratchDir();
    const dataDir = await storedDataDir();
    const first = await startDev(dataDir, [], { cwd: folder });
    await createJob(first.url, { task: "email", payload: { to: "a@example.com", subject: "Hello", text: "Hi there" } });
    const [, id = ""] = await first.process.line(
      /caught the mail .*Hello.* to a@example\.com; .*carillon mail get (mail_\w+)/,
    );
    await first.process.stop();
    const second = await startDev(dataDir, [], { cwd: folder });
    expect((await call(`${second.url}/v1/dev/mails`)).body).toMatchObject({ mails: [{ id, subject: "Hello" }] });
    const shown = await commandLine(folder, "mail", "get", id, "--url", second.url);
    expect(shown.stdout).toMatch(/from +Carillon <carillon@localhost>[^]*subject +Hello[^]*\nHi there\n$/);
    await second.process.stop();
  });

  it("carillon server does not serve the task email without a mail server, and has no mailbox", async () => {
    const server = new CarillonProcess(["server", "start", "--data-dir", await storedDataDir(), "--port", "0"]);
    const [, url = ""] = await server.line(/^carillon: listening on (\S+)$/);
    const tasks = JSON.stringify((await call(`${url}/v1/tasks`)).body);
    expect(tasks).toContain('"http"');
    expect(tasks).not.toContain('"email"');
    expect(await call(`${url}/v1/dev/mails`)).toMatchObject({ status: 404, body: { code: "not_found" } });
    await server.stop();
    const worker = new CarillonProcess(["worker", "start", "--executors", "email"], { cwd: await scratchDir() });
    expect(await worker.ended).toEqual({ code: 78, signal: null });
    expect(worker.stderr).toContain("CARILLON_SMTP_URL");
  });
});

const echo = { task: "echo", schedule: { cron: "@yearly" } };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

async function startDevIn(cwd: string, port: number) {
  const process = new CarillonProcess(["dev", "--port", String(port)], { cwd });
  const [, url = ""] = await process.line(/^ {2}URL +(\S+)$/);
  return { process, url };
}

interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function commandLine(cwd: string, ...words: readonly (string | Record<string, string>)[]): Promise<Said> {
  const args = words.filter((word) => typeof word === "string");
  const env = Object.assign({}, ...words.filter((word) => typeof word === "object")) as Record<string, string>;
  const process = new CarillonProcess(args, { cwd, env });
  const { code } = await process.ended;
  return { code, stdout: process.stdout, stderr: process.stderr };
}

const idsIn = (json: string): string[] => (JSON.parse(json) as { id: string }[]).map(({ id }) => id);

/** Runs a task from a program that gives `carillon()` no address; answers the status of its run. */
async function sdkRun(cwd: string): Promise<string> {
  const sdk = new URL("../../dist/index.js", import.meta.url).href;
  const program = `import { carillon } from ${JSON.stringify(sdk)};
    const { client } = carillon();
    const run = await client.runs.create({ task: "hello" }, { wait: "30s" });
    console.log(run.status);`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd });
  return stdout.trim();
}
