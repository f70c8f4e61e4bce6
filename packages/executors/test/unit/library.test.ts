import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NonRetryableError } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findLibrary } from "../../src/library.js";

const library = { name: "some-library", version: "1", neededBy: "The example executor" };

describe("an optional library", () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "carillon-library-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const install = (source: string): void => {
    const path = join(folder, "node_modules/some-library");
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "package.json"), '{"name":"some-library","type":"module","main":"index.js"}');
    writeFileSync(join(path, "index.js"), source);
  };

  it("that is not installed is refused with the command that installs it", () => {
    const message =
      "The example executor needs the package some-library, which is not installed: npm install some-library@1";
    expect(() => findLibrary(library, folder)).toThrow(expect.objectContaining({ code: "config_invalid", message }));
  });

  it("is found in the given folder and loaded only when it is used", async () => {
    install("globalThis.loadedLibraries = (globalThis.loadedLibraries ?? 0) + 1; export const answer = 42;");
    const loads = () => (globalThis as { loadedLibraries?: number }).loadedLibraries;
    const load = findLibrary<{ answer: number }>(library, folder);
    expect(loads()).toBeUndefined();
    expect((await load()).answer).toBe(42);
    expect(loads()).toBe(1);
  });

  it("that cannot be loaded, such as a version for newer Nodes, fails the run for good and names a version that works", async () => {
    install("undefined.bind(null);");
    const loaded = findLibrary(library, folder)();
    await expect(loaded).rejects.toBeInstanceOf(NonRetryableError);
    await expect(loaded).rejects.toThrow(/^The package some-library cannot be loaded .+: npm install some-library@1$/);
  });
});
