import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { desiredJobs, jobsIn } from "../../src/apply/read-jobs.js";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "carillon-init-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const read = (...path: string[]): string => readFileSync(join(dir, ...path), "utf8");

async function init(...argv: string[]) {
  const io = fakeIo({ cwd: dir });
  const code = await runCli(["init", ...argv], io);
  return { code, out: io.written(), said: io.said.join("\n") };
}

describe("init", () => {
  it("init writes a project, and prints the next two commands", async () => {
    const { code, out, said } = await init("My Jobs");
    expect({ code, out }).toEqual({ code: 0, out: "package.json\ntasks.js\njobs.yaml\nREADME.md\n" });
    expect(said).toContain("  cd 'My Jobs' && npm install && npm start\n  cd 'My Jobs' && npm run apply\n");
    expect(JSON.parse(read("My Jobs", "package.json"))).toMatchObject({
      name: "my-jobs",
      type: "module",
      scripts: { start: "carillon dev ./tasks.js", apply: "carillon job apply -f jobs.yaml" },
      dependencies: { carillon: expect.stringMatching(/^file:.*\/packages\/carillon$/) },
    });
    expect(said).toMatch(
      /^carillon: this Carillon runs from a checkout, so package.json links .*packages\/carillon\/?$/m,
    );
    expect(desiredJobs(await jobsIn(read("My Jobs", "jobs.yaml"), "jobs.yaml"), 0)).toMatchObject([
      { plain: { task: "greet" } },
    ]);
  });

  it("init --typescript writes TypeScript", async () => {
    expect((await init("--typescript", "--json")).code).toBe(0);
    expect(readdirSync(dir).sort()).toEqual(["README.md", "jobs.yaml", "package.json", "tasks.ts", "tsconfig.json"]);
    expect(JSON.parse(read("package.json"))).toMatchObject({ scripts: { start: "carillon dev ./tasks.ts" } });
  });

  it("init creates missing parent folders, and refuses a path below a file", async () => {
    expect((await init("deep/down/here")).code).toBe(0);
    expect(readdirSync(join(dir, "deep", "down", "here"))).toHaveLength(4);
    const below = await init("deep/down/here/README.md/below");
    expect({ code: below.code, said: below.said }).toEqual({
      code: 2,
      said: `carillon: ${join(dir, "deep/down/here/README.md/below")} cannot be created: a file is in the way. Choose another folder.`,
    });
  });

  it.runIf(existsSync("/proc/self"))("init refuses a file system without folders", async () => {
    const { code, said } = await init("/proc/nope/deeper");
    expect({ code, said }).toEqual({
      code: 2,
      said: "carillon: /proc/nope/deeper cannot be created: the system does not allow folders there. Choose another folder.",
    });
  });

  it("init overwrites no file: it writes all files or none, and keeps a package.json", async () => {
    writeFileSync(join(dir, "tasks.js"), "mine");
    const { code, said } = await init();
    expect({ code, files: readdirSync(dir) }).toEqual({ code: 5, files: ["tasks.js"] });
    expect(said).toContain("has tasks.js already");
    rmSync(join(dir, "tasks.js"));
    writeFileSync(join(dir, "package.json"), "{}");
    expect((await init()).said).toMatch(
      /npm install file:\S+\/packages\/carillon && npx carillon dev .\/tasks.mjs\n {2}npx carillon job apply/,
    );
    expect(read("package.json")).toBe("{}");
    expect(read("README.md")).toContain("npx carillon dev ./tasks.mjs");
  });

  it("init in a folder that depends on carillon already installs nothing else, and writes an ES module into a CommonJS package", async () => {
    const manifest = { type: "commonjs", dependencies: { carillon: "file:../carillon-0.1.0.tgz" } };
    writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
    const { code, out, said } = await init();
    expect({ code, out }).toEqual({ code: 0, out: "tasks.mjs\njobs.yaml\nREADME.md\n" });
    expect(said).toContain("\n  npm install && npx carillon dev ./tasks.mjs\n");
  });

  it("init refuses a package.json that is no JSON, and writes nothing", async () => {
    writeFileSync(join(dir, "package.json"), "{");
    expect(await init()).toMatchObject({ code: 5, said: expect.stringContaining("package.json is no JSON") });
    expect(readdirSync(dir)).toEqual(["package.json"]);
  });
});
