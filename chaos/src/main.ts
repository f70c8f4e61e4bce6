import { writeFileSync } from "node:fs";
import { VersionBeforeMissing } from "./mixed/version-before.js";
import { type Options, readOptions, replayArgs, usage } from "./options.js";
import { checksOf, exitCodes, outcomeLines, outcomeOf, reportLines } from "./report.js";
import { type Print, runInFolder } from "./run-chaos.js";
import { runMutants } from "./run-mutants.js";

export async function main(args: readonly string[], print: Print = (line) => console.log(line)): Promise<number> {
  if (args.includes("--help")) {
    print(usage);
    return exitCodes.ok;
  }
  let options: Options;
  try {
    options = readOptions(args, () => Math.floor(Math.random() * 2 ** 32));
  } catch (error) {
    print(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return exitCodes.usage;
  }
  try {
    if (options.mutantSeeds !== null) return await runMutants(options, options.mutantSeeds, print);
    const code = await judgedRun(options, print);
    if (code !== exitCodes.ok) print(`to repeat: node chaos/chaos.mjs ${replayArgs(options)}`);
    return code;
  } catch (error) {
    if (error instanceof VersionBeforeMissing) {
      print(`SKIPPED: ${error.message}`);
      return exitCodes.skipped;
    }
    print(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return exitCodes.broken;
  }
}

async function judgedRun(options: Options, print: Print): Promise<number> {
  const result = await runInFolder(options, print);
  for (const line of reportLines(result)) print(line);
  const outcome = outcomeOf(result);
  print(outcomeLines[outcome]);
  if (options.json !== null) {
    const { verdict } = result;
    const { targets, runs } = verdict;
    writeFileSync(
      options.json,
      JSON.stringify({ outcome, seed: options.seed, checks: checksOf(result), targets, runs }),
    );
  }
  return exitCodes[outcome];
}
