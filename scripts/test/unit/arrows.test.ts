import { describe, expect, it } from "vitest";
import { violationsOf } from "../../check/arrows.mjs";
import { cyclesOf, importsOf } from "../../check/import-graph.mjs";
import { ambientUses } from "../../check/ambient.mjs";

type Graph = Map<string, { specifier: string; target: string | null }[]>;

const graphOf = (files: Record<string, { specifier: string; target: string | null }[]>): Graph =>
  new Map(Object.entries(files));

describe("the check of the import arrows", () => {
  it("finds a planted import against the arrows", () => {
    const graph = graphOf({ "packages/core/src/a.ts": [{ specifier: "@carillon/engine", target: null }] });
    expect(violationsOf(graph)).toEqual(["packages/core/src/a.ts: core must not import @carillon/engine"]);
  });

  it("finds a planted cycle between three files", () => {
    const graph = graphOf({
      "packages/core/src/a.ts": [{ specifier: "./b.js", target: "packages/core/src/b.ts" }],
      "packages/core/src/b.ts": [{ specifier: "./c.js", target: "packages/core/src/c.ts" }],
      "packages/core/src/c.ts": [{ specifier: "./a.js", target: "packages/core/src/a.ts" }],
    });
    expect(cyclesOf(graph)).toHaveLength(1);
    expect(violationsOf(graph)).toHaveLength(1);
  });

  it("finds a deep import, a reach into another package and a technology outside its port", () => {
    const graph = graphOf({
      "packages/server/src/api/a.ts": [
        { specifier: "@carillon/core/dist/x.js", target: null },
        { specifier: "../../../engine/src/x.js", target: "packages/engine/src/x.ts" },
        { specifier: "pg", target: null },
      ],
    });
    expect(violationsOf(graph)).toHaveLength(3);
  });

  it("lets through what the arrows allow", () => {
    const graph = graphOf({
      "packages/engine/src/a.ts": [
        { specifier: "@carillon/core", target: null },
        { specifier: "./b.js", target: "packages/engine/src/b.ts" },
      ],
      "packages/engine/src/b.ts": [{ specifier: "node:crypto", target: null }],
    });
    expect(violationsOf(graph)).toEqual([]);
  });

  it("reads static, type-only, re-exported, bare and dynamic imports, and no comments", () => {
    const source = `
import { a } from "one";
import type { B } from "two";
export { c } from "three";
import "four";
const d = await import("five");
// import { e } from "never";
/* import { f } from "never"; */
`;
    expect(importsOf(source)).toEqual(
      ["one", "two", "three", "four", "five"].sort((x, y) => order(source, x) - order(source, y)),
    );
  });
});

const order = (source: string, word: string): number => source.indexOf(`"${word}"`);

describe("the check of clocks, timers and random numbers", () => {
  it("finds a planted clock read and a planted timer", () => {
    const source =
      "const a = Date.now();\n// Date.now() in a comment\nsetTimeout(() => {}, 1);\ntimers.setTimeout(() => {}, 1);\n";
    expect(ambientUses("packages/engine/src/a.ts", source)).toHaveLength(2);
  });

  it("allows them where time comes from", () => {
    expect(ambientUses("packages/core/src/time/system.ts", "Date.now()")).toEqual([]);
  });
});
