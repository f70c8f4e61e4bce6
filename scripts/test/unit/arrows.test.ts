import { describe, expect, it } from "vitest";
import { ambientUses } from "../../check/ambient.mjs";
import { knotsOf, orderFindings, violationsOf } from "../../check/arrows.mjs";
import { cyclesOf, importsOf } from "../../check/import-graph.mjs";

type Graph = Map<string, { specifier: string; target: string | null }[]>;

const graphOf = (files: Record<string, { specifier: string; target: string | null }[]>): Graph =>
  new Map(Object.entries(files));

describe("the check of the import arrows", () => {
  it("finds an import that the arrows do not allow", () => {
    const graph = graphOf({ "packages/core/src/a.ts": [{ specifier: "@carillon/engine", target: null }] });
    expect(violationsOf(graph)).toEqual(["packages/core/src/a.ts: core must not import @carillon/engine"]);
  });

  it("finds an import cycle of three files", () => {
    const graph = graphOf({
      "packages/core/src/a.ts": [{ specifier: "./b.js", target: "packages/core/src/b.ts" }],
      "packages/core/src/b.ts": [{ specifier: "./c.js", target: "packages/core/src/c.ts" }],
      "packages/core/src/c.ts": [{ specifier: "./a.js", target: "packages/core/src/a.ts" }],
    });
    expect(cyclesOf(graph)).toHaveLength(1);
    expect(violationsOf(graph)).toHaveLength(1);
  });

  it("finds a deep import, a relative import of another package and a technology outside its folder", () => {
    const graph = graphOf({
      "packages/server/src/api/a.ts": [
        { specifier: "@carillon/core/dist/x.js", target: null },
        { specifier: "../../../engine/src/x.js", target: "packages/engine/src/x.ts" },
        { specifier: "pg", target: null },
      ],
    });
    expect(violationsOf(graph)).toHaveLength(3);
  });

  it("accepts imports that the arrows allow", () => {
    const graph = graphOf({
      "packages/engine/src/a.ts": [
        { specifier: "@carillon/core", target: null },
        { specifier: "./b.js", target: "packages/engine/src/b.ts" },
      ],
      "packages/engine/src/b.ts": [{ specifier: "node:crypto", target: null }],
    });
    expect(violationsOf(graph)).toEqual([]);
  });

  it("reads static, type-only, re-exported, bare and dynamic imports, and ignores comments", () => {
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

/** A graph of imports "a/x → b/y" between files of packages/engine/src. */
const engineGraph = (...imports: string[]): Graph => {
  const graph: Graph = new Map();
  const path = (file = ""): string => `packages/engine/src/${file}.ts`;
  const edgesOf = (file: string) => graph.get(file) ?? graph.set(file, []).get(file) ?? [];
  for (const line of imports) {
    const [from, to] = line.split(" → ");
    edgesOf(path(to));
    edgesOf(path(from)).push({ specifier: `./${to}.js`, target: path(to) });
  }
  return graph;
};

describe("the check of the folder order", () => {
  const order = ["a", "b", "c"];

  it("accepts imports of folders above and counts no knot", () => {
    const graph = engineGraph("b/x → a/x", "c/x → b/x", "c/x → a/x", "c/x → c/y", "index → c/x");
    expect(orderFindings(graph, "engine", { order, knot: 1 })).toEqual({ knot: 1, against: 0, found: [] });
  });

  it("refuses an import of a folder below when there is no knot", () => {
    const graph = engineGraph("a/x → b/x", "c/x → a/x");
    expect(orderFindings(graph, "engine", { order, knot: 1 }).found).toEqual([
      "packages/engine/src/a/x.ts: a must not import b, which is below it (packages/engine/src/b/x.ts)",
    ]);
  });

  it("tolerates imports against the order while the recorded knot exists", () => {
    const graph = engineGraph("a/x → b/x", "b/y → a/y", "c/x → a/x");
    expect(orderFindings(graph, "engine", { order, knot: 2 })).toEqual({ knot: 2, against: 1, found: [] });
  });

  it("fails when the knot grows, and when it shrinks without the recorded number being lowered", () => {
    const graph = engineGraph("a/x → b/x", "b/y → c/x", "c/y → a/y");
    expect(orderFindings(graph, "engine", { order, knot: 2 }).found).toEqual([
      "engine: the largest knot grew from 2 folders to 3",
    ]);
    expect(orderFindings(graph, "engine", { order, knot: 4 }).found).toEqual([
      "scripts/check/arrows.mjs: the list for engine must say knot: 3, it shrank from 4",
    ]);
  });

  it("reports a folder that is missing in the list and a listed folder that does not exist", () => {
    expect(orderFindings(engineGraph("d/x → a/x"), "engine", { order: ["a", "b"], knot: 1 }).found).toEqual([
      "scripts/check/arrows.mjs: the list for engine lacks d",
      "scripts/check/arrows.mjs: the list for engine names b, which does not exist",
    ]);
  });

  it("assigns a file to the longest entry that its path begins with, a file's own name included", () => {
    const graph = engineGraph("runs/read/x → context", "runs/change/x → runs/read/x", "runs/x → runs/change/x");
    const nested = ["context.ts", "runs/read", "runs/change", "runs"];
    expect(orderFindings(graph, "engine", { order: nested, knot: 1 }).found).toEqual([]);
    expect(orderFindings(graph, "engine", { order: nested.toReversed(), knot: 1 }).against).toBe(3);
  });

  it("ignores other packages and finds the largest knot among several", () => {
    const graph = engineGraph("a/x → b/x", "b/x → a/y", "c/x → d/x", "d/x → e/x", "e/x → c/y");
    graph.set("packages/core/src/f/x.ts", [{ specifier: "./x", target: "packages/engine/src/a/x.ts" }]);
    expect(knotsOf(graph, "engine", [])).toEqual([
      ["c", "d", "e"],
      ["a", "b"],
    ]);
  });
});

const order = (source: string, word: string): number => source.indexOf(`"${word}"`);

describe("the check of clocks, timers and random numbers", () => {
  it("finds a use of the clock and of a timer", () => {
    const source =
      "const a = Date.now();\n// Date.now() in a comment\nsetTimeout(() => {}, 1);\ntimers.setTimeout(() => {}, 1);\n";
    expect(ambientUses("packages/engine/src/a.ts", source)).toHaveLength(2);
  });

  it("allows the clock in core/time", () => {
    expect(ambientUses("packages/core/src/time/system.ts", "Date.now()")).toEqual([]);
  });
});
