import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freshDatabase } from "@carillon/testkit";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { linkProject, packedAs } from "../../pack/empty-project.mjs";
import { packAll, type Packed } from "../../pack/tarballs.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Creates a folder for a project; the caller removes it. */
async function projectDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), "carillon-test-"));
}

/** Creates a folder that is removed at the end of the test. */
async function projectDirOfTest(): Promise<string> {
  const dir = await projectDir();
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** Installs a package of the checking tools in the project. */
async function linkTool(dir: string, name: string): Promise<void> {
  await symlink(join(root, "tools/node_modules", name), join(dir, "node_modules", name));
}

/** The first code block of a guide in this language. */
async function firstExample(guide: string, language: string): Promise<string> {
  const text = await readFile(join(root, "docs/guides", guide), "utf8");
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (code === undefined) throw new Error(`${guide} has no example in ${language}`);
  return code;
}

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the project to its end; throws if its exit code is not 0. */
async function runIn(dir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return run(process.execPath, args, { cwd: dir, env: { PATH: process.env["PATH"] ?? "", ...env } });
}

/** The output of the compiler for programs of the project. */
async function typeCheck(dir: string, files: readonly string[], options: readonly string[]): Promise<string> {
  const strict = ["--noEmit", "--strict", "--target", "es2023", "--types", "node"];
  const bin = join(root, "node_modules/.bin/tsc");
  const args = ["--ignoreConfig", ...strict, ...options, ...files];
  const { stdout } = await run(bin, args, { cwd: dir }).catch((error: { stdout: string }) => error);
  return stdout;
}

let dir: string;
let packed: Packed[];
beforeAll(async () => {
  dir = await projectDir();
  packed = packAll(join(dir, "tarballs"));
  await linkProject(dir, packedAs(packed, "carillon"));
  await linkTool(dir, "zod");
});
afterAll(() => rm(dir, { recursive: true }));

const emptyDatabase = async (): Promise<string> => {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  return url;
};

/** Uses every export of the SDK, with a schema library for payloads. */
const sdk = `
import { z } from "zod";
import { carillon, NonRetryableError, RetryAfterError, SnoozeError, task, type TaskInput, type TaskOutput } from "carillon";
import { TestKit } from "carillon/testkit";
declare const mailer: { send(to: string, how: { idempotencyKey: string; signal: AbortSignal }): Promise<{ sent: number }> };
export const welcome = task({
  name: "email.welcome",
  payload: z.object({ userId: z.string() }),
  retry: { maxAttempts: 5, backoff: "exponential", initial: "10s" }, timeout: "2m", queue: "email",
  run: async ({ userId }, ctx) => mailer.send(userId, { idempotencyKey: ctx.idempotencyKey, signal: ctx.signal }),
});
export const given: TaskInput<typeof welcome> = { userId: "u" };
export const answered: TaskOutput<typeof welcome> = { sent: 1 };
const app = carillon({ databaseUrl: "postgres://localhost/x", schema: "mine", roles: ["enqueue"], migrate: false });
export const calls = async (userId: string, tx: { query(text: string, values: unknown[]): Promise<{ rows: never[] }> }) => {
  await app.enqueue(welcome, { userId }, { delay: "3d", dedupe: { key: \`welcome:\${userId}\` }, tx });
  await app.schedule(welcome, "weekly", { cron: "0 9 * * MON", timeZone: "Europe/Paris", payload: { userId } });
  await app.worker({ tasks: [welcome], queues: { email: 20 } }).start();
  const { client } = carillon({ url: "http://x", token: "t" });
  const { runs } = await client.runs.list({ label_selector: "a=b" });
  return runs.map(({ status }) => status);
};
export const thrown = [new NonRetryableError("no"), new RetryAfterError("30s"), new SnoozeError("1m")];
export const kit = new TestKit({ tasks: [welcome] });
// @ts-expect-error the payload has another shape
export const bad = app.enqueue(welcome, { userId: 1 });
// @ts-expect-error a remote server cannot join a transaction
export const far = carillon({ url: "http://x" }).enqueue(welcome, { userId: "u" }, { tx: {} });
`;

describe("the published packages in an empty project", () => {
  it("runs the first example of the library guide as written, in at most 15 lines", async () => {
    const example = await firstExample("library.md", "js");
    expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
    await writeFile(join(dir, "first.js"), example);
    const env = { DATABASE_URL: await emptyDatabase() };
    expect(await runIn(dir, ["first.js"], env)).toEqual({ stdout: "hello world\n", stderr: "" });
  });

  it("works with require: a handler runs in the process, and classes are identical to the imported ones", async () => {
    const env = { CARILLON_DATABASE_URL: await emptyDatabase() };
    await writeFile(
      join(dir, "use.cjs"),
      `const { carillon, task, SnoozeError } = require("carillon");
       const app = carillon();
       const hello = task({ name: "hello", run: (who) => console.log("hello " + who) });
       app.enqueue(hello, "there")
         .then(() => app.runOnce({ tasks: [hello] }))
         .then(() => app.stop())
         .then(() => import("carillon"))
         .then((imported) => console.log(imported.SnoozeError === SnoozeError));`,
    );
    expect((await runIn(dir, ["use.cjs"], env)).stdout).toBe("hello there\ntrue\n");
    const version = await runIn(dir, ["node_modules/carillon/bin/carillon.js", "version"]);
    expect(version.stdout).toContain("0.1.0");
  });

  it.each([
    ["nodenext, without an error in the types themselves", ["sdk.ts", "sdk.cts"], ["--module", "nodenext"]],
    ["node16", ["sdk.ts"], ["--module", "node16", "--skipLibCheck"]],
    ["bundlers", ["sdk.ts"], ["--module", "esnext", "--moduleResolution", "bundler", "--skipLibCheck"]],
  ])("has types for module resolution %s", async (_name, files, options) => {
    for (const file of files) await writeFile(join(dir, file), sdk);
    expect(await typeCheck(dir, files, options)).toBe("");
  });

  it("calls a server without loading a database driver, from @carillon/worker without installing one", async () => {
    const source = (name: string): string => `
      import { createServer } from "node:http";
      import { createRequire } from "node:module";
      import { carillon, task } from ${JSON.stringify(name)};
      const server = createServer((request, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ id: "run_1", is_new: true }));
      }).listen(0, "127.0.0.1", async () => {
        const app = carillon({ url: "http://127.0.0.1:" + server.address().port });
        console.log(await app.enqueue(task({ name: "hello", run: () => 1 }), null));
        server.close().closeAllConnections();
        const { cache } = createRequire(import.meta.url);
        console.log(Object.keys(cache).filter((path) => /node_modules.(pg|fastify)/.test(path)).length);
      });`;
    const alone = await projectDirOfTest();
    await linkProject(alone, packedAs(packed, "@carillon/worker"));
    await writeFile(join(dir, "far.js"), source("carillon"));
    await writeFile(join(alone, "far.js"), source("@carillon/worker"));
    const expected = { stdout: "{ id: 'run_1', isNew: true }\n0\n", stderr: "" };
    expect(await runIn(dir, ["far.js"])).toEqual(expected);
    expect(await runIn(alone, ["far.js"])).toEqual(expected);
  });

  it("carillon/executors has an executor for each other system with types, and loads none of the optional libraries", async () => {
    const program = `
      import { airflowExecutor, createExecutorHost, dockerExecutor, kubernetesExecutor, lambdaExecutor, workerTimers } from "carillon/executors";
      const host = createExecutorHost({ timers: workerTimers, env: {}, outboundAllowlist: [] });
      const names = [airflowExecutor, dockerExecutor, kubernetesExecutor].map((create) => create(host).name);
      try { names.push(lambdaExecutor(host).name); } catch (error) { names.push(error instanceof Error ? error.message : ""); }
      for (const name of names) console.log(name);`;
    for (const name of ["use.js", "use.ts"]) await writeFile(join(dir, name), program);
    const missing =
      "The lambda executor needs the package @aws-sdk/client-lambda, which is not installed: npm install @aws-sdk/client-lambda@3";
    const stdout = `airflow\ndocker\nkubernetes\n${missing}\n`;
    expect(await runIn(dir, ["use.js"])).toEqual({ stdout, stderr: "" });
    expect(await typeCheck(dir, ["use.ts"], ["--module", "nodenext"])).toBe("");
    const bundler = ["--module", "esnext", "--moduleResolution", "bundler"];
    expect(await typeCheck(dir, ["use.ts"], bundler)).toBe("");
  });

  it("importing carillon loads no module of the command line, the server or the executors", async () => {
    await writeFile(
      join(dir, "loads.mjs"),
      `import { writeSync } from "node:fs";
       import { register } from "node:module";
       import { isMainThread } from "node:worker_threads";
       if (isMainThread) {
         register(import.meta.url);
         await import("carillon");
         await import("carillon/testkit");
       }
       export async function load(url, context, next) {
         writeSync(1, url + "\\n");
         return next(url, context);
       }`,
    );
    const { stdout } = await runIn(dir, ["loads.mjs"]);
    expect(stdout).toContain("/node_modules/carillon/dist/index.js");
    expect(stdout.split("\n").filter((url) => /lib\/(cli|server|executors|embedded-postgres)\//.test(url))).toEqual([]);
  });

  it("runs handlers over a database without optional dependencies, where the command line says what to install", async () => {
    const small = await projectDirOfTest();
    await linkProject(small, packedAs(packed, "carillon"), { optional: false });
    const installed = await readdir(join(small, "node_modules"));
    expect(installed.sort()).toEqual([
      ".bin",
      "@marcbachmann",
      "@opentelemetry",
      "@types",
      "carillon",
      "ical.js",
      "pg",
      "typebox",
    ]);
    await writeFile(
      join(small, "library.js"),
      `import { carillon, task } from "carillon";
       import { TestKit } from "carillon/testkit";
       const hello = task({ name: "hello", run: (who) => console.log("hello " + who) });
       const app = carillon();
       await app.enqueue(hello, "there");
       await app.runOnce({ tasks: [hello] });
       await app.stop();
       new TestKit({ tasks: [hello] });
       await carillon({ dataDir: "data" }).start().catch(({ code, message }) => console.log(code, message));`,
    );
    const { stdout } = await runIn(small, ["library.js"], { CARILLON_DATABASE_URL: await emptyDatabase() });
    expect(stdout).toContain("hello there\nconfig_invalid The option dataDir needs packages that npm left out");
    const shim = ["node_modules/carillon/bin/carillon.js", "version"];
    await expect(runIn(small, shim)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /needs the package \S+, which npm left out.*npm install carillon --include=optional/,
      ) as string,
    });
  });
});
