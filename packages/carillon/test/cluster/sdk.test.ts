import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freshDatabase } from "@carillon/testkit";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { carillon, task } from "../../src/index.js";
import { killStarted } from "../process/carillon-process.js";
import { startServer } from "../process/server.js";
import { storedDataDir } from "../process/stored-data-dir.js";

async function database(): Promise<string> {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  return url;
}

interface App {
  readonly child: ChildProcess;
  /** The next line of its output. */
  line(): Promise<string>;
}

/** A user's program, with the built packages. */
async function startApp(source: string, env: Readonly<Record<string, string>>): Promise<App> {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await symlink(fileURLToPath(new URL("../../../../node_modules", import.meta.url)), join(dir, "node_modules"));
  await writeFile(join(dir, "app.mjs"), source);
  const whole = { PATH: process.env["PATH"] ?? "", ...env };
  const child = spawn(process.execPath, ["app.mjs"], { cwd: dir, env: whole, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => String((await lines.next()).value) };
}

describe("an app over a server", () => {
  it("a worker of an app over a server runs its own runs and those of a library app over the same database", async () => {
    const databaseUrl = await database();
    const { url } = await startServer(databaseUrl);
    onTestFinished(killStarted);
    const far = await startApp(
      `import { carillon, task } from "@carillon/worker";
       const app = carillon();
       const hello = task({ name: "hello", run: (payload) => console.log(payload) });
       await app.worker({ tasks: [hello] }).start();
       await app.enqueue(hello, "from afar", { dedupe: { key: "k", window: "1h" } });`,
      { CARILLON_URL: url },
    );
    expect(await far.line()).toBe("from afar");
    const here = carillon({ databaseUrl, roles: ["enqueue"] });
    expect(await here.enqueue("hello", "again", { dedupe: { key: "k" } })).toMatchObject({ isNew: false });
    expect(await here.enqueue("hello", "from here")).toMatchObject({ isNew: true });
    expect(await far.line()).toBe("from here");
    await here.stop();
    const exited = once(far.child, "exit");
    far.child.kill("SIGTERM");
    expect(await exited).toEqual([null, "SIGTERM"]);
  });
});

describe("a process with an app inside", () => {
  it("an app with a dataDir starts and stops its own database, which one app at a time may use", async () => {
    const dataDir = await storedDataDir();
    const hello = task({ name: "hello", run: (name) => `hello ${String(name)}` });
    const app = carillon({ dataDir });
    await app.enqueue(hello, "world");
    expect(await app.runOnce({ tasks: [hello] })).toBe(1);
    await expect(carillon({ dataDir }).start()).rejects.toThrow(/in use by/);
    await app.stop();
    await expect(access(join(dataDir, "postgres/postmaster.pid"))).rejects.toThrow("ENOENT");
  });

  it("an app ends by SIGTERM after its run has ended, and leaves waiting runs to other processes", async () => {
    const databaseUrl = await database();
    const { child, line } = await startApp(
      `import { carillon, task } from "carillon";
       const app = carillon();
       const slow = task({ name: "slow", run: (n) => {
         console.log("began " + n);
         return new Promise((resolve) => process.once("SIGTERM", () => setImmediate(resolve, "ended")));
       } });
       for (const n of [1, 2]) await app.enqueue(slow, n);
       await app.worker({ tasks: [slow], queues: { default: 1 } }).start();`,
      { CARILLON_DATABASE_URL: databaseUrl },
    );
    const exited = once(child, "exit");
    expect(await line()).toBe("began 1");
    child.kill("SIGTERM");
    expect(await exited).toEqual([null, "SIGTERM"]);
    const client = new Client(databaseUrl);
    await client.connect();
    const { rows } = await client.query(
      `select payload, status, output from carillon.run_history
       union all select payload, state, null from carillon.run`,
    );
    await client.end();
    expect(rows).toEqual([
      { payload: 1, status: "succeeded", output: "ended" },
      { payload: 2, status: "queued", output: null },
    ]);
  });
});
