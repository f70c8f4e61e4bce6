import { describe, expect, it } from "vitest";
import { tracedFiles } from "../../shape/journey.mjs";
import { compositionRoots, filesWithOneImporter, lineCount, longStatements } from "../../shape/sources.mjs";
import { tableOf } from "../../shape.mjs";

describe("the shape report", () => {
  it("counts a file of the journey when every journey enters a function that an idle node does not enter", () => {
    const idle = [{ "loop.ts": ["tick@1"] }, { "pool.ts": ["query@1"] }];
    const first = {
      "loop.ts": ["tick@1", "wake@9"],
      "pool.ts": ["query@1"],
      "fire.ts": ["fire@1"],
      "once.ts": ["a@1"],
    };
    const second = { "loop.ts": ["wake@9"], "pool.ts": ["query@1"], "fire.ts": ["fire@1", "late@5"] };
    expect(tracedFiles(idle, [first, second])).toEqual({
      files: ["fire.ts", "loop.ts"],
      sharedWithIdle: ["pool.ts"],
    });
  });

  it("finds files with exactly one importer, several imports by one file counted once", () => {
    const edge = (target: string | null) => ({ specifier: "x", target });
    const graph = new Map([
      ["index.ts", [edge("a.ts"), edge("b.ts"), edge("b.ts")]],
      ["a.ts", [edge("c.ts"), edge(null)]],
      ["b.ts", [edge("c.ts"), edge("elsewhere.ts")]],
      ["c.ts", []],
    ]);
    expect(filesWithOneImporter(graph)).toEqual(["a.ts", "b.ts"]);
  });

  it("counts as composition root what builds parts of three other engine folders, and nothing less", () => {
    const imports = `import { A } from "../a/a.js";
import { type B, makeB } from "../b/b.js";
import { C as Renamed } from "../c/c.js";
import { Own } from "./own.js";
import type { D } from "../d/d.js";
`;
    const texts = new Map([
      [
        "packages/engine/src/node/root.ts",
        `${imports}const all = [new A(), makeB(), new Renamed<string>(), new Own()];`,
      ],
      [
        "packages/engine/src/node/part.ts",
        `${imports}const all = [new A(), makeB(), new Own()]; type X = Renamed | D;`,
      ],
      ["packages/server/src/node/other.ts", `${imports}const all = [new A(), makeB(), new Renamed()];`],
    ]);
    expect(compositionRoots(texts)).toEqual(["packages/engine/src/node/root.ts"]);
  });

  it("finds statements with a parameter of position 10 or above, comments left out", () => {
    const sql = "-- head $10\n\n-- name: a.b\n-- params: $12\nselect $1, $9;\n\n-- name: a.c\nselect $10;\n";
    expect(longStatements(new Map([["a.sql", sql]]))).toEqual(["a.sql: a.c"]);
  });

  it("counts lines as wc does", () => {
    expect(
      lineCount(
        new Map([
          ["a.ts", "1\n2\n"],
          ["b.ts", "1\n"],
        ]),
      ),
    ).toBe(3);
  });

  it("prints each measure with its value, its target and whether it is met", () => {
    const measure = { name: "files", what: "source files", target: 950, places: [] };
    expect(
      tableOf([
        { ...measure, value: 1_220 },
        { ...measure, value: 950 },
      ]),
    ).toBe(
      [
        "name   measure         now  at most",
        "files  source files  1,220      950  MISSED",
        "files  source files    950      950  met",
      ].join("\n"),
    );
  });
});
