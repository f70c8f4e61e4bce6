import { describe, expect, it } from "vitest";
import { codeMap, foldersIn, mappedFolders, purposeIn, withCodeMap } from "../../generate/code-map.mjs";

const readmes: Record<string, string> = {
  "packages/core/README.md":
    "# @carillon/core\n\nPure rules. No I/O.\n\n| folder | contents |\n|---|---|\n| `cron/` | cron expressions |\n",
  "packages/engine/README.md": "# @carillon/engine\n\nThe loops of a node.\n",
  "packages/engine/src/loops/README.md": "# Loops: pace the work\n",
  "packages/engine/src/jobs/README.md": "# Jobs: create and change jobs\n",
  "packages/engine/src/jobs/transaction/README.md": "# Transactions\n\nLocks [jobs](x.md)\nin order. Then more.\n",
};
const files = [
  "packages/core/package.json",
  "packages/core/src/cron/parse.ts",
  "packages/core/src/index.ts",
  "packages/engine/package.json",
  "packages/engine/src/jobs/jobs.ts",
  "packages/engine/src/loops/loop.ts",
  ...Object.keys(readmes),
];
const read = (path: string): string => readmes[path] ?? "";

describe("the generator of the code map", () => {
  it("reads the purpose of a folder from the title of its README after the colon", () => {
    expect(purposeIn("# Jobs: create and change jobs\n\nMore.\n")).toBe("Create and change jobs");
  });

  it("reads the purpose of a folder from the first sentence of its README when the title has no colon", () => {
    expect(purposeIn("# Jobs\n\nReads [`jobs`](a.md) of v1.2\nand more. The rest.\n")).toBe(
      "Reads `jobs` of v1.2 and more",
    );
  });

  it("finds no purpose in a README that begins with a table or a code block", () => {
    expect(purposeIn("# Jobs\n\n| file | role |\n|---|---|\n")).toBeNull();
    expect(purposeIn("# Jobs\n\n```ts\nrun();\n```\n")).toBeNull();
    expect(purposeIn("# Jobs\n")).toBeNull();
  });

  it("reads folders from the table of a package's README, also linked ones and those with the path from the package", () => {
    const table = "| a | b |\n|---|---|\n| [`cron/`](src/cron/README.md) | cron |\n| `src/zone/` | zones | x |\n";
    expect(foldersIn(table).get("cron")).toBe("Cron");
    expect(foldersIn(table).get("zone")).toBe("Zones");
  });

  it("lists packages and folders in the order in which they may import each other", () => {
    expect(mappedFolders(files).map(({ path }) => path)).toEqual([
      "packages/core",
      "packages/core/src/cron",
      "packages/engine",
      "packages/engine/src/loops",
      "packages/engine/src/jobs",
      "packages/engine/src/jobs/transaction",
    ]);
  });

  it("writes a row for each folder, with a link to its README", () => {
    const map = codeMap(files, read);
    expect(map).toContain("| `packages/core/src/cron/` | Cron expressions |\n");
    expect(map).toContain(
      "| `packages/engine/src/jobs/transaction/` | Locks jobs in order ([README](../packages/engine/src/jobs/transaction/README.md)) |\n",
    );
  });

  it("fails with the names of packages and engine components that have no README", () => {
    const without = files.filter((file) => !/(core|loops)\/README\.md$/.test(file));
    expect(() => codeMap(without, read)).toThrow(
      /: packages\/core\/README\.md, packages\/core\/src\/cron, packages\/engine\/src\/loops\/README\.md$/,
    );
  });

  it("replaces only the marked block of the page, and fails without one", () => {
    const mark = "<!-- code map, made by scripts/generate/code-map.mjs from the READMEs -->\n";
    expect(withCodeMap(`a\n${mark}old\n<!-- end -->\nb\n`, "new\n")).toBe(`a\n${mark}new\n<!-- end -->\nb\n`);
    expect(() => withCodeMap("a\n", "new\n")).toThrow("no block");
  });
});
