import { describe, expect, it } from "vitest";
import { cellsOf, countsOf, tableOf, versionsOf } from "../../matrix.mjs";

const offered = { node: ["22", "24", "26"], postgres: ["14", "18"] };

describe("the version matrix", () => {
  it("reads the versions from the names of the dependencies", () => {
    const dependencies = { node22: "a", node24: "b", pg14: "c", other: "d" };
    expect(versionsOf({ dependencies })).toEqual({ node: ["22", "24"], postgres: ["14"] });
  });

  it("runs unit once on each Node and store on each pair", () => {
    const cells = cellsOf([], offered);
    expect(cells.filter(({ tier }) => tier === "unit").map(({ node }) => node)).toEqual(offered.node);
    expect(cells.filter(({ tier }) => tier === "store").map(({ node, postgres }) => `${node}/${postgres}`)).toEqual([
      "22/14",
      "22/18",
      "24/14",
      "24/18",
      "26/14",
      "26/18",
    ]);
  });

  it("runs every version once with --quick", () => {
    const cells = cellsOf(["--quick"], offered);
    expect(cells.map(({ tier, node, postgres }) => `${tier} ${node} ${postgres}`)).toEqual([
      "unit 22 null",
      "unit 24 null",
      "unit 26 null",
      "store 24 14",
      "store 24 18",
    ]);
  });

  it("runs one requested cell, and refuses a version that is not available", () => {
    expect(cellsOf(["--node", "24", "--postgres", "14"], offered)).toEqual([
      { tier: "unit", node: "24", postgres: null },
      { tier: "store", node: "24", postgres: "14" },
    ]);
    expect(() => cellsOf(["--postgres", "13"], offered)).toThrow("Available: 14, 18");
  });

  it("counts files that could not be loaded when no test failed", () => {
    const testResults = [{ status: "passed" }, { status: "failed" }];
    expect(countsOf({ numPassedTests: 5, numFailedTests: 0, testResults })).toBe("1 of 2 files");
    expect(countsOf({ numPassedTests: 5, numFailedTests: 2, testResults })).toBe("2 of 7");
    expect(countsOf({ numPassedTests: 5, numFailedTests: 0, testResults: [{ status: "passed" }] })).toBe("5");
  });

  it("prints a failed cell in its row and column", () => {
    const table = tableOf([
      { tier: "unit", node: "22", postgres: null, isOk: true, seconds: 3.2, counts: "40" },
      { tier: "store", node: "22", postgres: "14", isOk: false, seconds: 10, counts: "1 of 9" },
    ]);
    expect(table).toBe("         unit        store, PostgreSQL 14\nNode 22  ok 40, 3 s  FAILED 1 of 9, 10 s");
  });
});
