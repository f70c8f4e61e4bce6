import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshDatabase } from "@carillon/testkit";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { packAll, type Packed } from "../../pack/tarballs.mjs";
import { linkProject } from "../../pack/empty-project.mjs";
import { firstExample, linkTool, projectDir, projectDirOfTest, runIn, typeCheck } from "../process/packed-project.js";

let dir: string;
let packed: Packed[];
beforeAll(async () => {
  dir = await projectDir();
  packed = packAll(join(dir, "tarballs"));
  await linkProject(dir, packed, "carillon");
  await linkTool(dir, "zod");
});
afterAll(() => rm(dir, { recursive: true }));

const emptyDatabase = async (): Promise<string> => {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  return url;
};

/** The SDK as the design has it, with a schema library. */
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
// @ts-expect-error a payload of another form
export const bad = app.enqueue(welcome, { userId: 1 });
// @ts-expect-error a transaction is nothing that a server far away can join
export const far = carillon({ url: "http://x" }).enqueue(welcome, { userId: "u" }, { tx: {} });
`;

describe("the packages as they are published, in an empty project,", () => {
  it("run the first example of the guide as written, in at most 15 lines", async () => {
    const example = await firstExample("library.md", "js");
    expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
    await writeFile(join(dir, "first.js"), example);
    const env = { DATABASE_URL: await emptyDatabase() };
    expect(await runIn(dir, ["first.js"], env)).toEqual({ stdout: "hello world\n", stderr: "" });
  });

  it("serve CommonJS: a handler runs inside the process, and classes are the same ones as of an import", async () => {
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
    ["nodenext, with nothing amiss in the types themselves", ["sdk.ts", "sdk.cts"], ["--module", "nodenext"]],
    ["node16", ["sdk.ts"], ["--module", "node16", "--skipLibCheck"]],
    ["bundlers", ["sdk.ts"], ["--module", "esnext", "--moduleResolution", "bundler", "--skipLibCheck"]],
  ])("have types for %s", async (_name, files, options) => {
    for (const file of files) await writeFile(join(dir, file), sdk);
    expect(await typeCheck(dir, files, options)).toBe("");
  });

  it("talk to a server without loading a database driver, and @carillon/worker without having one", async () => {
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
    await linkProject(alone, packed, "@carillon/worker");
    await writeFile(join(dir, "far.js"), source("carillon"));
    await writeFile(join(alone, "far.js"), source("@carillon/worker"));
    const said = { stdout: "{ id: 'run_1', isNew: true }\n0\n", stderr: "" };
    expect(await runIn(dir, ["far.js"])).toEqual(said);
    expect(await runIn(alone, ["far.js"])).toEqual(said);
  });

  it("run handlers over a database without optional packages, where the command line says what to install", async () => {
    const small = await projectDirOfTest();
    await linkProject(small, packed, "carillon", { optional: false });
    const installed = await readdir(join(small, "node_modules/@carillon"));
    expect(installed.sort()).toEqual(["client", "condition", "contract", "core", "engine", "worker"]);
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
    expect(stdout).toContain("hello there\nconfig_invalid The option dataDir needs the package @carillon/server");
    const shim = ["node_modules/carillon/bin/carillon.js", "version"];
    await expect(runIn(small, shim)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("npm install @carillon/cli") as string,
    });
  });
});
