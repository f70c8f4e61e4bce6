import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, readOptions, usage } from "./options.js";
import { hasFailed, isVoid, reportLines } from "./report.js";
import { runChaos } from "./run-chaos.js";

const exitCodes = { ok: 0, violations: 1, usage: 2, void: 3, broken: 4 } as const;

export async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args, () => Math.floor(Math.random() * 2 ** 32));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return exitCodes.usage;
  }
  const folder = await mkdtemp(join(tmpdir(), "carillon-chaos-"));
  // PostgreSQL runs as a user of its own when this is root's.
  await chmod(folder, 0o711);
  const code = await judgedRun(options, folder);
  if (options.keep || code === exitCodes.broken) console.log(`kept: ${folder}`);
  else await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  if (code !== exitCodes.ok) console.log(`again: node chaos/chaos.mjs ${replayArgs(options)}`);
  return code;
}

async function judgedRun(options: Options, folder: string): Promise<number> {
  try {
    const result = await runChaos({ options, folder, say: (line) => console.log(line) });
    for (const line of reportLines(result)) console.log(line);
    if (hasFailed(result)) {
      console.log("FAILED");
      return exitCodes.violations;
    }
    if (isVoid(result)) {
      console.log("VOID: no write was refused and no shard moved, so nothing was proved");
      return exitCodes.void;
    }
    console.log("ok: nothing missed, nothing done twice");
    return exitCodes.ok;
  } catch (error) {
    console.error(error);
    return exitCodes.broken;
  }
}

const replayArgs = ({ seed, loadMs, nodes, mutant }: Options): string =>
  `--minutes ${loadMs / 60_000} --seed ${seed} --nodes ${nodes}${mutant === null ? "" : ` --mutant ${mutant}`}`;
