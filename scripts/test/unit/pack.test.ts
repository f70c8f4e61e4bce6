import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentFindings, filesOfTar, importFindings } from "../../pack/contents.mjs";
import { closureOf, stagedManifest, withRelativeImports } from "../../pack/stage.mjs";

const requiredFiles = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"];

describe("the check of tarballs", () => {
  it("requires certain files in a tarball and refuses all others", () => {
    expect(
      contentFindings({
        name: "x",
        files: [
          ...requiredFiles,
          "lib/core/package.json",
          "lib/core/dist/a/b.js",
          "lib/store/src/migrations/0001_first.sql",
        ],
      }),
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

const manifestOf = (name: string, rest: object = {}) => ({
  dir: name,
  manifest: { name, version: "1.0.0", exports: {}, ...rest },
});
const packages = new Map([
  ["app", manifestOf("app", { dependencies: { core: "1.0.0", pg: "8" }, optionalDependencies: { cli: "1.0.0" } })],
  ["core", manifestOf("core", { dependencies: { typebox: "1" }, peerDependencies: { holidays: "^3" } })],
  [
    "cli",
    manifestOf("cli", {
      dependencies: { core: "1.0.0", pg: "8", commander: "14" },
      optionalDependencies: { native: "2" },
    }),
  ],
  ["other", manifestOf("other")],
]);

describe("the staging of a published package", () => {
  it("contains the workspace packages that the package needs, and separates those that only optional ones need", () => {
    expect(closureOf("app", packages)).toEqual({ required: ["app", "core"], optional: ["cli"] });
  });

  it("depends on the libraries of all contained packages; those of optional packages alone are optional", () => {
    expect(stagedManifest("app", packages)).toMatchObject({
      dependencies: { pg: "8", typebox: "1" },
      optionalDependencies: { commander: "14", native: "2" },
      peerDependencies: { holidays: "^3" },
      peerDependenciesMeta: { holidays: { optional: true } },
    });
  });

  it("refuses two versions of one library", () => {
    const two = new Map([...packages, ["core", manifestOf("core", { dependencies: { pg: "7" } })]]);
    expect(() => stagedManifest("app", two)).toThrow("two versions of pg: 8, 7");
  });

  it("replaces imports of workspace packages by relative paths, in code, in types and in calls", () => {
    const text = `import { a } from "@carillon/core";
import "@carillon/store";
export type B = import("@carillon/core").B;
await import("@carillon/core");
import pg from "pg";
`;
    expect(withRelativeImports(text, "lib/engine/dist/a/b.js", (name) => `lib/${name.slice(10)}/dist/index.js`)).toBe(
      `import { a } from "../../../core/dist/index.js";
import "../../../store/dist/index.js";
export type B = import("../../../core/dist/index.js").B;
await import("../../../core/dist/index.js");
import pg from "pg";
`,
    );
  });
});
