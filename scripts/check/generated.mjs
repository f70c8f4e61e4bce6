// Runs every generator of scripts/generate with --check, which compares the committed files with newly generated ones. With --update it runs
// them without --check, which writes the files.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ generator: string, status: number | null }} Outcome
 */

/**
 * The generators among the modules of the folder: those that no other module imports.
 * @param {Map<string, string>} modules sources by file name
 * @returns {string[]}
 */
export function generatorsAmong(modules) {
  const sources = [...modules.values()];
  return [...modules.keys()].filter((name) => !sources.some((source) => source.includes(`"./${name}"`))).sort();
}

/**
 * A generator ends with 0 when its files are up to date and with 1 when they are not. Another exit code is a failure of the generator.
 * @param {readonly Outcome[]} outcomes
 * @returns {{ findings: string[], summary: string }}
 */
export function verdictOf(outcomes) {
  const findings = outcomes.flatMap(({ generator, status }) => {
    if (status === 0) return [];
    if (status === 1) return [`out of date; update with: node scripts/generate/${generator}`];
    return [`scripts/generate/${generator} failed (exit ${status ?? "by a signal"})`];
  });
  return { findings, summary: `generated files: ${outcomes.length} generators, ${findings.length} findings` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = `${root}scripts/generate`;
  const args = process.argv.includes("--update") ? [] : ["--check"];
  const names = readdirSync(folder).filter((name) => name.endsWith(".mjs"));
  const generators = generatorsAmong(new Map(names.map((name) => [name, readFileSync(`${folder}/${name}`, "utf8")])));
  const outcomes = generators.map((generator) => ({
    generator,
    status: spawnSync(process.execPath, [`${folder}/${generator}`, ...args], { cwd: root, stdio: "inherit" }).status,
  }));
  const { findings, summary } = verdictOf(outcomes);
  for (const finding of findings) console.error(finding);
  console.log(summary);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
