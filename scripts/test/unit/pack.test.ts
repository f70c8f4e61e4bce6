import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentFindings, filesOfTar, importFindings } from "../../pack/contents.mjs";

const requiredFiles = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"];

describe("the check of tarballs", () => {
  it("requires certain files in a tarball and refuses all others", () => {
    expect(
      contentFindings({ name: "x", files: [...requiredFiles, "dist/a/b.js", "src/migrations/0001_first.sql"] }),
    ).toEqual([]);
    const files = [...requiredFiles.slice(1), "dist/index.js.map", "test/a.test.ts"];
    expect(contentFindings({ name: "x", files })).toEqual([
      "x: dist/index.js.map does not belong in the tarball",
      "x: test/a.test.ts does not belong in the tarball",
      "x: package.json is missing in the tarball",
    ]);
  });

  it("refuses imports that are neither own files, modules of Node nor dependencies", () => {
    const texts = new Map([
      ["dist/index.js", 'import { a } from "./a.js";\nimport fs from "node:fs";\nexport { b } from "pg/lib/x";\n'],
      ["dist/index.d.ts", 'import type { a } from "./a.js";\nexport type B = import("@types/y").Z;\n'],
      ["dist/a.js", 'await import("left-pad");\n'],
    ]);
    expect(importFindings("x", texts, { dependencies: { pg: "8" } })).toEqual([
      "x: dist/index.d.ts imports ./a.js, which is not in the tarball",
      "x: dist/index.d.ts imports @types/y, which the package does not depend on",
      "x: dist/a.js imports left-pad, which the package does not depend on",
    ]);
  });

  it("reads all files of a tarball, long file names included", () => {
    const dir = mkdtempSync(join(tmpdir(), "carillon-test-"));
    const deep = `package/${"folder/".repeat(15)}`;
    mkdirSync(join(dir, deep), { recursive: true });
    writeFileSync(join(dir, deep, "a.js"), "text of a");
    writeFileSync(join(dir, "package/b.js"), "x".repeat(1_000));
    const tar = execFileSync("tar", ["--format=ustar", "-c", "-C", dir, "package"]);
    rmSync(dir, { recursive: true });
    const files = filesOfTar(tar, /\.js$/);
    expect(Object.fromEntries(files)).toEqual({
      [`${deep.slice("package/".length)}a.js`]: "text of a",
      "b.js": "x".repeat(1_000),
    });
  });
});
