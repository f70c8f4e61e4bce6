import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Whether the module at this URL was started as a program. Tests import generators without running them. */
export function isProgram(moduleUrl) {
  return process.argv[1] === fileURLToPath(moduleUrl);
}

/**
 * Writes a generated file. With `--check` it compares the text with the committed file instead, and sets the exit code 1 when they differ.
 * @param {string} moduleUrl of the generator
 * @param {string} path of the file, from the repository's root
 * @param {string} text
 */
export function publish(moduleUrl, path, text) {
  const file = new URL(`../../${path}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
    console.log(`wrote ${path}`);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${path} differs from what ${fileURLToPath(moduleUrl).split("/").pop()} generates`);
    process.exitCode = 1;
  }
}
