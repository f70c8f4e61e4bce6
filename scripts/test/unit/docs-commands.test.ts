import { describe, expect, it } from "vitest";
import {
  codeMapFindings,
  commandFindings,
  mappedPaths,
  missingFiles,
  subcommandsOf,
  tiersOf,
} from "../../check/docs/references.mjs";
import { generatorsAmong, verdictOf } from "../../check/generated.mjs";

const known = {
  scripts: new Set(["start", "test", "format"]),
  tiers: new Set(["unit", "store"]),
  subcommands: new Set(["dev", "job create"]),
  exists: (path: string): boolean => path === "scripts/build.mjs",
};
const inBlock = (...lines: string[]): string => ["```sh", ...lines, "```", ""].join("\n");

describe("the check of commands", () => {
  it("finds commands that do not exist, in blocks and in code spans, with their lines", () => {
    const text = `${inBlock("npm ci && npm run absent", "npx carillon job destroy x", "node scripts/gone.mjs")}Type \`npm run nothing\`.\n`;
    expect(commandFindings("README.md", text, known)).toEqual([
      "README.md:2: npm run absent: package.json has no script absent",
      "README.md:3: npx carillon job destroy x: carillon has no command job destroy",
      "README.md:4: node scripts/gone.mjs: there is no scripts/gone.mjs",
      "README.md:6: npm run nothing: package.json has no script nothing",
    ]);
  });

  it("finds a tier that npm test does not have", () => {
    expect(commandFindings("README.md", inBlock("npm test -- unit browser"), known)).toEqual([
      "README.md:2: npm test -- unit browser: npm test has no tier browser",
    ]);
  });

  it("accepts existing commands with options, variables and comments", () => {
    const lines = [
      "npm ci && npm start -- --port 0",
      "npm test -- unit store   # two tiers",
      "CARILLON_URL=x npx carillon job create --json",
      "carillon --help",
      "node scripts/build.mjs",
      "curl -s http://127.0.0.1:8023/v1/jobs",
    ];
    expect(commandFindings("README.md", inBlock(...lines), known)).toEqual([]);
  });

  it("ignores code blocks of other languages", () => {
    expect(commandFindings("README.md", "```ts\nnpm run absent\n```\n", known)).toEqual([]);
  });

  it("reads the subcommands from the manifest and the tiers from the test script", () => {
    expect(subcommandsOf("### carillon dev\n\n### carillon job create\n\ntext\n")).toEqual(
      new Set(["dev", "job create"]),
    );
    expect(tiersOf("const tiers = {\n  unit: () => 1,\n  store: () =>\n    other({ no: 1 }),\n};\n")).toEqual(
      new Set(["unit", "store"]),
    );
  });
});

describe("the check of the code map", () => {
  const text =
    "## Before\n| `no` | x |\n## Code map\n| path | what |\n| `packages/a/src/b/` | x |\n## After\n| `no` | x |\n";

  it("reads only the paths of the section Code map", () => {
    expect(mappedPaths(text)).toEqual([{ path: "packages/a/src/b", line: 5 }]);
  });

  it("finds a path that does not exist and a folder that the map lacks", () => {
    const findings = codeMapFindings(mappedPaths(text), ["packages/a/src/b", "packages/a/src/c"], () => false);
    expect(findings).toEqual([
      "docs/architecture.md:5: the code map names packages/a/src/b, which does not exist",
      "docs/architecture.md: the code map lacks packages/a/src/c",
    ]);
  });

  it("refuses an empty code map", () => {
    expect(codeMapFindings([], [], () => true)).toHaveLength(1);
  });

  it("finds a file in backticks that the repository does not have", () => {
    const documents = new Map([["packages/a/README.md", "| `kept.ts` | `b/gone.ts` |\n\n`kept` and `--file x.ts`"]]);
    expect(missingFiles(documents, new Set(["kept.ts"]))).toEqual([
      "packages/a/README.md:1: there is no file b/gone.ts",
    ]);
  });
});

describe("the check of generated files", () => {
  it("runs every module of the folder that no other module imports", () => {
    const modules = new Map([
      ["b.mjs", 'import { write } from "./part.mjs";'],
      ["part.mjs", "export function write() {}"],
      ["a.mjs", ""],
    ]);
    expect(generatorsAmong(modules)).toEqual(["a.mjs", "b.mjs"]);
  });

  it("distinguishes an outdated file from a failed generator and counts both", () => {
    const { findings, summary } = verdictOf([
      { generator: "a.mjs", status: 0 },
      { generator: "b.mjs", status: 1 },
      { generator: "c.mjs", status: null },
    ]);
    expect(findings).toEqual([
      "out of date; update with: node scripts/generate/b.mjs",
      "scripts/generate/c.mjs failed (exit by a signal)",
    ]);
    expect(summary).toBe("generated files: 3 generators, 2 findings");
  });
});
