import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/**
 * Writes a page made from what packages/core exports, if the module at `moduleUrl` was started as a program; with `--check`
 * it compares the page with the committed one instead. A module that is imported, by a test, does nothing here.
 */
export async function publish(moduleUrl, path, render) {
  if (process.argv[1] !== fileURLToPath(moduleUrl)) return;
  const page = render(await import(new URL("packages/core/dist/index.js", root).href));
  const file = new URL(path, root);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, page);
  } else if (readFileSync(file, "utf8") !== page) {
    console.error(`${path} is not what ${fileURLToPath(moduleUrl).split("/").pop()} makes: run it and commit the page`);
    process.exitCode = 1;
  }
}
