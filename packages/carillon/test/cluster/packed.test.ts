import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase } from "@carillon/testkit";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { firstExample, makePackedProject, runIn, typeCheck } from "../process/packed-project.js";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  await makePackedProject(dir);
});
afterAll(() => rm(dir, { recursive: true }));

const emptyDatabase = async (): Promise<string> => {
  const { url, drop } = await freshDatabase();
  onTestFinished(drop);
  return url;
};

describe("the package as it is published, in an empty project,", () => {
  it("runs the first example of the guide as written, in at most 15 lines", async () => {
    const example = await firstExample("library.md", "js");
    expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
    await writeFile(join(dir, "first.js"), example);
    const env = { DATABASE_URL: await emptyDatabase() };
    expect(await runIn(dir, ["first.js"], env)).toEqual({ stdout: "hello world\n", stderr: "" });
  });

  it("serves ES modules, CommonJS, TypeScript and the command line", async () => {
    const env = { CARILLON_DATABASE_URL: await emptyDatabase() };
    await writeFile(
      join(dir, "use.cjs"),
      `const { carillon, task } = require("carillon");
       const app = carillon();
       const hello = task({ name: "hello", run: (who) => console.log("hello " + who) });
       app.enqueue(hello, "there").then(() => app.runOnce({ tasks: [hello] })).then(() => app.stop());`,
    );
    expect((await runIn(dir, ["use.cjs"], env)).stdout).toBe("hello there\n");
    await writeFile(
      join(dir, "use.ts"),
      `import { carillon, task, type StandardSchema } from "carillon";
       declare const schema: StandardSchema<{ n: number }, { n: number }>;
       const counted = task({ name: "counted", payload: schema, run: ({ n }) => n + 1 });
       const plain = task({ name: "plain", run: async (payload: { to: string }, ctx) => [payload.to, ctx.attempt] });
       const app = carillon({ databaseUrl: "postgres://localhost/x" });
       export const good = [app.enqueue(counted, { n: 1 }, { delay: "3d" }), app.enqueue(plain, { to: "x" })];
       // @ts-expect-error a payload of another form
       export const bad = app.enqueue(counted, { n: "1" });
       // @ts-expect-error a transaction is nothing that a server far away can join
       export const far = carillon({ url: "http://x" }).enqueue(plain, { to: "x" }, { tx: {} });
       app.on("run.finished", ({ task: name, status }) => console.log(name, status));`,
    );
    expect(await typeCheck(dir, "use.ts")).toBe("");
    const version = await runIn(dir, ["node_modules/carillon/bin/carillon.js", "version"]);
    expect(version.stdout).toContain("0.1.0");
  });
});
