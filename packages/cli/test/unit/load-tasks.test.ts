import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadTasks } from "../../src/load-tasks.js";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
});
afterAll(() => rm(dir, { recursive: true }));

let modules = 0;
async function load(source: string) {
  const name = `tasks-${++modules}.mjs`;
  await writeFile(join(dir, name), source);
  return (await loadTasks(name, dir)).map((one) => one.name);
}

const task = (name: string) => `{ name: "${name}", run: () => 1 }`;

describe("the tasks of a module", () => {
  it("the tasks of a module are its exports with a name and a function, single, in lists and in objects", async () => {
    const source = `export const a = ${task("a")}; export const other = 5; export function name() {}
      export const some = [${task("b")}, null]; export default { c: ${task("c")}, a };`;
    expect((await load(source)).sort()).toEqual(["a", "b", "c"]);
  });

  it("the tasks of a module may be made by task(), which validates payloads", async () => {
    const index = pathToFileURL(fileURLToPath(new URL("../../../carillon/src/index.ts", import.meta.url))).href;
    await writeFile(
      join(dir, "sdk.mjs"),
      `import { task } from ${JSON.stringify(index)};
      const validate = (value) => typeof value === "string" ? { value } : { issues: [{ message: "no text" }] };
      export const a = task({ name: "a", payload: { "~standard": { version: 1, vendor: "test", validate } }, run: (text) => text + "!" });`,
    );
    const [checked] = await loadTasks("sdk.mjs", dir);
    expect(await checked?.run("x", {} as never)).toBe("x!");
    await expect(checked?.run(5, {} as never)).rejects.toThrow("no text");
  });

  it.each([
    ["no tasks", "export const a = { name: 'a' };", 2, /exports no tasks/],
    ["two of one name", `export const a = ${task("x")}; export const b = ${task("x")};`, 2, /two tasks named "x"/],
    [
      "an unknown option of a task",
      `export const a = { name: "a", run: () => 1, retries: 3 };`,
      78,
      /^\S+tasks-\d+\.mjs: task\("a"\): retries is not an option\. Write retry: \{ maxAttempts: 4 \}/,
    ],
    ["an error of its own", "throw new Error('no key');", 78, /cannot be loaded: Error: no key/],
  ])("a module with %s ends the command", async (_kind, source, exitCode, message) => {
    await expect(load(source)).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
  });

  it("the tasks of a module that are plain objects have the options of task()", async () => {
    await writeFile(
      join(dir, "plain.mjs"),
      `export const a = { name: "a", run: () => 1, queue: "mail", weight: 2, retry: { maxAttempts: 5 } };`,
    );
    expect(await loadTasks("plain.mjs", dir)).toMatchObject([
      { name: "a", weight: 2, defaults: { queue: "mail", retry: { max_attempts: 5 } } },
    ]);
  });

  it("a wrong option of task() ends the command with the file and line of the task, also in an imported module", async () => {
    const index = pathToFileURL(fileURLToPath(new URL("../../../carillon/src/index.ts", import.meta.url))).href;
    const source = `import { task } from ${JSON.stringify(index)};\n\nexport const a = task({\n  name: "a", timeout: 30, run: () => 1 });`;
    await writeFile(join(dir, "wrong.mjs"), source);
    await writeFile(join(dir, "imports.mjs"), 'export { a } from "./wrong.mjs";');
    for (const name of ["wrong.mjs", "imports.mjs"]) {
      await expect(loadTasks(name, dir)).rejects.toMatchObject({
        exitCode: 78,
        message: `${join(dir, "wrong.mjs")}:3: task("a"): timeout must be a string such as "2m", not 30.`,
      });
    }
  });

  it("the module of tasks must exist", async () => {
    await expect(loadTasks("none.mjs", dir)).rejects.toMatchObject({ exitCode: 2 });
  });
});
