import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const program = new URL("../../../carillon/bin/carillon.js", import.meta.url).pathname;

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  await writeFile(join(dir, "lib.mjs"), "export const a = 1;\nexport const b = ;\n");
  await writeFile(join(dir, "conf.json"), '{\n  "a": 1,\n}\n');
});
afterAll(() => rm(dir, { recursive: true }));

/** Loads the module in a process of its own, as a worker does: the runner of the tests would compile it first. */
async function load(name: string, source: string) {
  await writeFile(join(dir, name), source);
  const env = { PATH: process.env["PATH"] ?? "", CARILLON_SKIP_BUILD: "1" };
  const args = [program, "worker", "start", name];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: dir, env, encoding: "utf8" });
  return { status, said: stderr.replaceAll(dir, "~") };
}

const readsTypeScript = "typescript" in process.features && process.features.typescript !== false;

describe("a module of tasks that cannot be loaded", () => {
  it("a syntax error of an ES module names the file, the line and the column, with the lines around it", async () => {
    const { status, said } = await load("a.mjs", "export const a = {\n  run() {\n    const = 3;\n  },\n};\n");
    expect(status).toBe(78);
    expect(said).toBe(
      [
        "carillon: ~/a.mjs cannot be loaded: SyntaxError: Unexpected token '='",
        "",
        "~/a.mjs:3:11",
        "",
        "  1 | export const a = {",
        "  2 |   run() {",
        "> 3 |     const = 3;",
        "    |           ^",
        "  4 |   },",
        "  5 | };",
        "",
      ].join("\n"),
    );
  });

  it.each([
    [
      "an imported module",
      "b.mjs",
      'import "./lib.mjs";',
      /~\/lib\.mjs:2:18\n[^]*> 2 \| export const b = ;\n {4}\| {18}\^/,
    ],
    ["a CommonJS module", "c.cjs", "module.exports = {\n  a: = 3\n};", /~\/c\.cjs:2:6\n[^]*> 2 \| {3}a: = 3/],
    ["a missing export", "d.mjs", 'import { none } from "node:fs";', /~\/d\.mjs:1:10\n/],
    ["a JSON module", "e.mjs", 'import x from "./conf.json" with { type: "json" };', /~\/conf\.json:3:1\n[^]*> 3 \| }/],
    ["a missing file", "f.mjs", '\nimport "./none.mjs";', /Cannot find module '~\/none\.mjs'[^]*~\/f\.mjs:2:8\n/],
    ["a missing package", "g.mjs", 'import "no-such-pkg";', /npm install no-such-pkg\n\n~\/g\.mjs:1:8\n/],
  ])("the fault of %s is shown at its place", async (_kind, name, source, expected) => {
    const { status, said } = await load(name, source);
    expect({ status, said }).toEqual({ status: 78, said: expect.stringMatching(expected) as string });
    expect(said).not.toMatch(/node:internal|packages\/cli/);
  });

  it("an error thrown at import is shown at the user's line, with the user's frames and no other", async () => {
    const source = "function key() {\n  return null.x;\n}\nexport const a = key();\n";
    const { status, said } = await load("h.mjs", source);
    expect(status).toBe(78);
    expect(said).toMatch(/TypeError: Cannot read properties of null[^]*~\/h\.mjs:2:15\n[^]*> 2 \| {3}return null\.x;/);
    expect(said.match(/^ +at .*$/gm)).toEqual(["    at key (~/h.mjs:2:15)", "    at ~/h.mjs:4:18"]);
  });

  it("a thrown value that is no error is shown as it is", async () => {
    expect((await load("i.mjs", 'throw "no key";')).said).toContain("It threw no key");
  });

  it.runIf(readsTypeScript)("a syntax error of TypeScript names its place", async () => {
    const { said } = await load("j.ts", "const a: number = 1;\nexport const b = { name: ;\n");
    expect(said).toMatch(/~\/j\.ts:2:26\n[^]*> 2 \| export const b = \{ name: ;/);
  });
});
