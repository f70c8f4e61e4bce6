import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimers } from "@carillon/core";
import { expect, it, onTestFinished } from "vitest";
import { SourceWatch } from "../../src/dev-worker.js";

it("the source watch reports changed source files, also in new folders, and not the files that tasks write", async () => {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  let notifications = 0;
  let onNotified = (): void => undefined;
  const watch = new SourceWatch(dir, systemTimers, () => {
    notifications += 1;
    onNotified();
  });
  onTestFinished(async () => {
    watch.close();
    await rm(dir, { recursive: true });
  });
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    const notified = new Promise<void>((resolve) => (onNotified = resolve));
    await work();
    await notified;
  };
  await writeFile(join(dir, "data"), "1");
  await writeFile(join(dir, "a.log"), "1");
  await mkdir(join(dir, "out"));
  await change(() => writeFile(join(dir, "tasks.mjs"), "1"));
  await writeFile(join(dir, "out/data"), "1");
  await mkdir(join(dir, "lib"));
  await change(() => writeFile(join(dir, "lib/more.ts"), "1"));
  await writeFile(join(dir, "lib/data"), "1");
  await change(() => rm(join(dir, "lib"), { recursive: true }));
  expect(notifications).toBe(3);
});
