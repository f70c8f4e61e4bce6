import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installedFrom } from "../../src/installed-from.js";

let dir: string;
let target: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "carillon-installed-")));
  target = folderOf("jobs");
});
afterEach(() => rmSync(dir, { recursive: true }));

function folderOf(...path: string[]): string {
  const folder = join(dir, ...path);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A project that depends on carillon and has it in this folder of its own. */
function projectWith(manifest: object, ...installed: string[]): string {
  const folder = folderOf("app", "node_modules", ...installed, "carillon");
  writeFileSync(join(dir, "app", "package.json"), JSON.stringify(manifest));
  return folder;
}

describe("a new project installs the Carillon that runs", () => {
  it("by its range of versions if npm has it from a registry", () => {
    const folder = projectWith({ dependencies: { carillon: "^0.1.0" } });
    expect(installedFrom(target, { folder })).toEqual({ dependency: "^0.1.0", note: null });
  });

  it.each([[[]], [[".pnpm", "carillon@file+carillon.tgz", "node_modules"]]])(
    "from the tarball if it was installed from one, in node_modules %j",
    (inside) => {
      writeFileSync(join(dir, "carillon.tgz"), "");
      const folder = projectWith({ devDependencies: { carillon: "file:../carillon.tgz" } }, ...inside);
      const { dependency, note } = installedFrom(target, { folder });
      expect(dependency).toBe("file:../carillon.tgz");
      expect(note).toContain(`was installed from ${join(dir, "carillon.tgz")}`);
    },
  );

  it("from the address if it was installed from one", () => {
    const folder = projectWith({ dependencies: { carillon: "https://example.com/carillon.tgz" } });
    const { dependency, note } = installedFrom(target, { folder });
    expect(dependency).toBe("https://example.com/carillon.tgz");
    expect(note).toContain("https://example.com/carillon.tgz");
  });

  it("by a link if the tarball does not exist any more, if no project has it, or in a checkout", () => {
    const folder = projectWith({ dependencies: { carillon: "file:../gone.tgz" } });
    expect(installedFrom(target, { folder })).toEqual({
      dependency: "file:../app/node_modules/carillon",
      note: expect.stringContaining(
        "gone.tgz, from which this Carillon was installed, does not exist any more",
      ) as string,
    });
    const global = folderOf("lib", "node_modules", "carillon");
    expect(installedFrom(target, { folder: global }).dependency).toBe("file:../lib/node_modules/carillon");
    folderOf("lib", "node_modules", "carillon", "src");
    const checkout = { folder: global, userAgent: "pnpm/10.2.0 npm/? node/v20" };
    expect(installedFrom(target, checkout)).toEqual({
      dependency: "link:../lib/node_modules/carillon",
      note: expect.stringContaining("runs from a checkout") as string,
    });
  });
});
