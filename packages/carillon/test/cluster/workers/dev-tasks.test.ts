import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CarillonProcess } from "../../process/carillon-process.js";
import { processesAt, scratchDir } from "../../process/scratch.js";
import { call, createJob, startDev } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";

const module = (version: string) => `
import { setTimeout as sleep } from "node:timers/promises";
export const slow = {
  name: "slow",
  run: async (payload, context) => {
    console.log("begun by ${version} " + context.attempt);
    await sleep(payload.ms);
    return "${version}";
  },
};`;

const outputOf = async (url: string, id: string): Promise<unknown> => {
  const { run } = (await call(`${url}/v1/jobs/${id}`)).body;
  return (run as { output: unknown }).output;
};

it("carillon dev runs the tasks of a module, and new code after a change; running handlers end on the old code", async () => {
  const [dataDir, folder] = [await storedDataDir(), await scratchDir()];
  const tasks = join(folder, "tasks.mjs");
  await writeFile(tasks, module("one"));
  const { process, url } = await startDev(dataDir, [tasks]);
  const serving = /^carillon: serving slow on/;
  await process.line(serving);
  const first = await createJob(url, { task: "slow", payload: { ms: 3_000 } });
  await process.line(/^begun by one 1/);

  await writeFile(tasks, module("two"));
  while (process.count(serving) < 2) await process.next();
  // Both serve until the old process is stopped.
  await process.line(/draining; a second signal/);
  const second = await createJob(url, { task: "slow", payload: { ms: 0 } });
  await process.line(/^begun by two 1/);
  await expect.poll(() => outputOf(url, second), { timeout: 30_000 }).toBe("two");
  await expect.poll(() => outputOf(url, first), { timeout: 30_000 }).toBe("one");

  await writeFile(tasks, "export const slow = {");
  await process.line(/cannot be loaded: SyntaxError/);
  const third = await createJob(url, { task: "slow", payload: { ms: 0 } });
  await expect.poll(() => outputOf(url, third), { timeout: 30_000 }).toBe("two");

  expect(await process.stop()).toEqual({ code: 0, signal: null });
  expect(await processesAt(folder)).toEqual([]);
});

it("a worker whose task has a wrong option ends with 78, the file, the task and the option, and carillon dev goes on", async () => {
  const [dataDir, folder] = [await storedDataDir(), await scratchDir()];
  const tasks = join(folder, "tasks.mjs");
  const withOptions = (options: string) => `export const slow = { name: "slow", run: () => 1, ${options} };`;
  await writeFile(tasks, withOptions("retries: 3"));
  const { process, url } = await startDev(dataDir, [tasks]);
  await process.line(
    /^carillon: .*tasks\.mjs: task\("slow"\): retries is not an option\. Write retry: \{ maxAttempts: 4 \}/,
  );

  // Only the server compares options with each other.
  await writeFile(tasks, withOptions('sla: { startWithin: "2h", finishWithin: "1h" }'));
  const worker = new CarillonProcess(["worker", "start", tasks, "--url", url]);
  expect(await worker.ended).toEqual({ code: 78, signal: null });
  expect(worker.stderr).toBe(
    `carillon: ${tasks}: task("slow"): sla.startWithin must not be longer than finishWithin, because a run starts before it ends.\n`,
  );

  const stranger = new CarillonProcess(["worker", "start", "--executors", "http", "--url", url, "--namespace", "none"]);
  expect(await stranger.ended).toEqual({ code: 3, signal: null });
  expect(stranger.stderr).toMatch(/^carillon: .* There is no namespace "none"\.\n$/);

  await writeFile(tasks, withOptions(""));
  await process.line(/^carillon: serving slow on/);
  expect(await process.stop()).toEqual({ code: 0, signal: null });
});

it("carillon dev loads the tasks again when a file changes that they import, and ignores the files that they write", async () => {
  const [dataDir, folder] = [await storedDataDir(), await scratchDir()];
  const file = (name: string): string => join(folder, name);
  await mkdir(file("lib"));
  await writeFile(file("lib/value.cjs"), "module.exports = { value: 1 };");
  await writeFile(file("conf.json"), '{"n":1}');
  await writeFile(
    file("tasks.mjs"),
    `import { createRequire } from "node:module";
    import { writeFileSync } from "node:fs";
    import conf from "./conf.json" with { type: "json" };
    import lib from "./lib/value.cjs";
    export const sum = { name: "sum", run: () => {
      writeFileSync(new URL("lib/out.json", import.meta.url), "{}");
      return [conf.n, lib.value];
    } };`,
  );
  const { process, url } = await startDev(dataDir, ["tasks.mjs"], { cwd: folder });
  const serving = /^carillon: serving sum on/;
  const served = async (times: number): Promise<void> => {
    while (process.count(serving) < times) await process.next();
  };
  await served(1);
  const first = await createJob(url, { task: "sum" });
  await expect.poll(() => outputOf(url, first), { timeout: 30_000 }).toEqual([1, 1]);

  await writeFile(file("conf.json"), '{"n":22}');
  await process.line(/^carillon: conf\.json changed; the tasks are loaded again/);
  await served(2);
  await writeFile(file("lib/value.cjs"), "module.exports = { value: 22, };");
  await process.line(/^carillon: lib\/value\.cjs changed/);
  await served(3);
  // The two old processes have ended.
  while (process.count(/"msg":"stopped"/) < 2) await process.next();
  const second = await createJob(url, { task: "sum" });
  await expect.poll(() => outputOf(url, second), { timeout: 30_000 }).toEqual([22, 22]);

  await writeFile(file("lib/value.cjs"), "module.exports = { value: = };");
  await process.line(/lib\/value\.cjs:1:27$/);
  await process.line(/^> 1 \| module\.exports = \{ value: = \};$/);
  await process.line(/^carillon: the tasks are served as they were before/);
  await writeFile(file("lib/value.cjs"), "module.exports = { value: 3 };");
  await served(4);
  expect(process.stderr).not.toContain("out.json changed");
  expect(await process.stop()).toEqual({ code: 0, signal: null });
});

it("carillon dev stays up with tasks that cannot be loaded, and serves them when they are repaired", async () => {
  const [dataDir, folder] = [await storedDataDir(), await scratchDir()];
  const tasks = join(folder, "tasks.mjs");
  await writeFile(tasks, 'import { x } from "./missing.mjs";\nexport const a = { name: "a", run: () => x };\n');
  const { process, url } = await startDev(dataDir, [tasks]);
  await process.line(/tasks\.mjs:1:19$/);
  await process.line(/^carillon: no tasks are served; a change of a file that they import loads them again/);
  expect((await call(`${url}/readyz`)).status).toBe(200);
  await writeFile(join(folder, "missing.mjs"), "export const x = 5;\n");
  await process.line(/^carillon: serving a on/);
  await process.stop();
});

it("the worker of carillon dev ends with it, also if carillon dev is killed", async () => {
  const [dataDir, folder] = [await storedDataDir(), await scratchDir()];
  const tasks = join(folder, "tasks.mjs");
  await writeFile(tasks, module("one"));
  const { process } = await startDev(dataDir, [tasks]);
  await process.line(/^carillon: serving slow on/);
  process.kill("SIGKILL");
  await expect.poll(() => processesAt(folder), { timeout: 30_000 }).toEqual([]);
  // It adopts the running database, and stops it.
  const next = await startDev(dataDir);
  expect(await next.process.stop()).toEqual({ code: 0, signal: null });
});

it("carillon dev refuses a module that does not exist", async () => {
  const missing = new CarillonProcess(["dev", "./none.mjs", "--ephemeral"], { cwd: await scratchDir() });
  expect(await missing.ended).toEqual({ code: 2, signal: null });
  expect(missing.stderr).toMatch(/There is no file .*none\.mjs/);
});
