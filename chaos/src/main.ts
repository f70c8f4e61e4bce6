import { writeFileSync } from "node:fs";
import { type Options, readOptions, replayArgs, usage } from "./options.js";
import { checksOf, exitCodes, outcomeLines, outcomeOf, reportLines } from "./report.js";
import { type Say, runInFolder } from "./run-chaos.js";
import { runMutants } from "./run-mutants.js";

export async function main(args: readonly string[], say: Say = (line) => console.log(line)): Promise<number> {
  if (args.includes("--help")) {
    say(usage);
    return exitCodes.ok;
  }
  let options: Options;
  try {
    options = readOptions(args, () => Math.floor(Math.random() * 2 ** 32));
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return exitCodes.usage;
  }
  try {
    if (options.mutantSeeds !== null) return await runMutants(options, options.mutantSeeds, say);
    const code = await judgedRun(options, say);
    if (code !== exitCodes.ok) say(`again: node chaos/chaos.mjs ${replayArgs(options)}`);
    return code;
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return exitCodes.broken;
  }
}

async function judgedRun(options: Options, say: Say): Promise<number> {
  const result = await runInFolder(options, say);
  for (const line of reportLines(result)) say(line);
  const outcome = outcomeOf(result);
  say(outcomeLines[outcome]);
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
