import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NonRetryableError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findLibrary } from "../../src/library.js";

const library = { name: "some-library", version: "1", neededBy: "The example executor" };

describe("optional libraries", () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "carillon-library-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const install = (source: string): void => {
    const path = join(folder, "node_modules/some-library");
    mkdirSync(path, { recursive: true });
    writeFileSync(
      join(path, "package.json"),
      '{"name":"some-library","version":"2.1.0","type":"module","main":"index.js"}',
    );
    writeFileSync(join(path, "index.js"), source);
  };

  it("refuses a library that is not installed, with the command that installs it", () => {
    const message =
      "The example executor needs the package some-library, which is not installed: npm install some-library@1";
    expect(() => findLibrary(library, { cwd: folder })).toThrow(
      expect.objectContaining({ code: "config_invalid", message }),
    );
  });

  it("finds a library in the given folder and loads it only when it is used", async () => {
    install("globalThis.loadedLibraries = (globalThis.loadedLibraries ?? 0) + 1; export const answer = 42;");
    const loads = () => (globalThis as { loadedLibraries?: number }).loadedLibraries;
    const load = findLibrary<{ answer: number }>(library, { cwd: folder });
    expect(loads()).toBeUndefined();
    expect((await load()).answer).toBe(42);
    expect(loads()).toBe(1);
  });

  it("fails the run for good if a library cannot be loaded, with a version that works", async () => {
    install("undefined.bind(null);");
    const loaded = findLibrary(library, { cwd: folder })();
    await expect(loaded).rejects.toBeInstanceOf(NonRetryableError);
    await expect(loaded).rejects.toThrow(/^The package some-library cannot be loaded .+: npm install some-library@1$/);
  });

  it("refuses a version that needs Node 22 on Node 20, before it is loaded", () => {
    install("undefined.bind(null);");
    const find = (node22From: number, nodeVersion: string) => () =>
      findLibrary({ ...library, node22From }, { cwd: folder, nodeVersion });
    const message = "some-library 2.1.0 needs Node 22, and this is 20.19.0: npm install some-library@1";
    expect(find(2, "20.19.0")).toThrow(expect.objectContaining({ code: "config_invalid", message }));
    expect(find(2, "22.1.0")).not.toThrow();
    expect(find(3, "20.19.0")).not.toThrow();
  });
});
