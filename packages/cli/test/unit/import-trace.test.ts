import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { ImportTrace } from "../../src/import-trace.js";

it("the trace of imports has the files of the user, also missing ones and packages to install, and neither packages nor Carillon nor unrelated modules", async () => {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const url = (name: string): string => `${pathToFileURL(dir).href}/${name}`;
  for (const name of ["tasks.mjs", "a.mjs", "b.json"]) await writeFile(join(dir, name), "1");
  const reported: { name: string; isThere: boolean }[] = [];
  const trace = new ImportTrace(join(dir, "tasks.mjs"), ({ path, mtimeMs }) =>
    reported.push({ name: path.slice(dir.length + 1), isThere: mtimeMs !== null }),
  );
  trace.resolved("./a.mjs", url("tasks.mjs"), url("a.mjs?1"));
  trace.resolved("./b.json", url("a.mjs?1"), url("b.json"));
  trace.resolved("./a.mjs", url("b.json"), url("a.mjs"));
  trace.resolved("./none.mjs", url("a.mjs"), null);
  trace.resolved("@scope/no-package/sub", url("a.mjs"), null);
  trace.resolved("node:none", url("a.mjs"), null);
  trace.resolved("zod", url("a.mjs"), url("node_modules/zod/index.js"));
  trace.resolved("carillon", url("a.mjs"), url("carillon/index.js"));
  trace.resolved("@carillon/worker", url("a.mjs"), url("worker/index.js"));
  trace.resolved("node:fs", url("a.mjs"), "node:fs");
  trace.resolved("./x.js", url("worker/index.js"), url("worker/x.js"));
  trace.resolved("./tasks.mjs", undefined, url("tasks.mjs"));
  expect(reported).toEqual([
    { name: "tasks.mjs", isThere: true },
    { name: "a.mjs", isThere: true },
    { name: "b.json", isThere: true },
    { name: "none.mjs", isThere: false },
    { name: "node_modules/@scope/no-package/package.json", isThere: false },
  ]);
});
