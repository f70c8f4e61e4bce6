import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimers } from "@carillon/core";
import { expect, it, onTestFinished } from "vitest";
import { importedFile } from "../../src/import-trace.js";
import { SourceWatch } from "../../src/source-watch.js";

async function watched(...files: readonly string[]) {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  const path = (name: string): string => join(dir, name);
  let onNotified = (_names: readonly string[]): void => undefined;
  const all: (readonly string[])[] = [];
  const watch = new SourceWatch(systemTimers, (paths) => {
    const names = paths.map((one) => one.slice(dir.length + 1));
    all.push(names);
    onNotified(names);
  });
  onTestFinished(async () => {
    watch.close();
    await rm(dir, { recursive: true });
  });
  for (const name of files) await writeFile(path(name), "1");
  for (const name of files) watch.add(importedFile(path(name)));
  const change = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    const notified = new Promise<readonly string[]>((resolve) => (onNotified = resolve));
    await work();
    return notified;
  };
  return { watch, path, change, all };
}

it("the source watch names the imported files that changed, and ignores the files that tasks write", async () => {
  const { path, change, all } = await watched("tasks.mjs", "conf.json");
  await writeFile(path("out.json"), "{}");
  await writeFile(path("other.mjs"), "1");
  expect(await change(() => writeFile(path("tasks.mjs"), "22"))).toEqual(["tasks.mjs"]);
  await writeFile(path("out.json"), "{ }");
  const both = Promise.all([writeFile(path("tasks.mjs"), "333"), writeFile(path("conf.json"), "333")]);
  expect(await change(() => both)).toEqual(["tasks.mjs", "conf.json"]);
  expect(all).toHaveLength(2);
});

it("the source watch notices a file that an editor replaces by another one", async () => {
  const { path, change } = await watched("tasks.mjs");
  await writeFile(path("draft"), "new");
  expect(await change(() => rename(path("draft"), path("tasks.mjs")))).toEqual(["tasks.mjs"]);
});

it("the source watch notices an imported file that is created later, also in a folder that does not exist yet", async () => {
  const { watch, path, change } = await watched("tasks.mjs");
  watch.add(importedFile(path("lib/more/b.mjs")));
  const create = async (): Promise<void> => {
    await mkdir(path("lib/more"), { recursive: true });
    await writeFile(path("lib/more/b.mjs"), "1");
  };
  expect(await change(create)).toEqual(["lib/more/b.mjs"]);
  expect(await change(() => rm(path("lib"), { recursive: true }))).toEqual(["lib/more/b.mjs"]);
  expect(await change(create)).toEqual(["lib/more/b.mjs"]);
});

it("the source watch notices a file that changed between its import and the watch, and forgets files that are imported no more", async () => {
  const { watch, path, change, all } = await watched("tasks.mjs", "old.mjs");
  const stale = { path: path("tasks.mjs"), mtimeMs: 1 };
  expect(await change(async () => watch.add(stale))).toEqual(["tasks.mjs"]);
  watch.keep(new Set([path("tasks.mjs")]));
  await writeFile(path("old.mjs"), "2");
  expect(await change(() => writeFile(path("tasks.mjs"), "2"))).toEqual(["tasks.mjs"]);
  expect(all).toEqual([["tasks.mjs"], ["tasks.mjs"]]);
});
