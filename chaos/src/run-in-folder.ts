import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkFreshness } from "./mutants/freshness.js";
import { mutantNamed } from "./mutants/mutants.js";
import type { Options } from "./options.js";
import type { Result } from "./report.js";
import { runChaos } from "./run-chaos.js";

export type Say = (line: string) => void;

/**
 * A run in a folder of its own, which goes afterwards unless it is asked for or the harness failed. Refuses a mutant whose texts
 * are no longer in the product.
 */
export async function runInFolder(options: Options, say: Say): Promise<Result> {
  if (options.mutant !== null) checkFreshness(mutantNamed(options.mutant), "build");
  const folder = await mkdtemp(join(tmpdir(), "carillon-chaos-"));
  // PostgreSQL runs as a user of its own when this is root's.
  await chmod(folder, 0o711);
  let isKept = true;
  try {
    const result = await runChaos({ options, folder, say });
    isKept = options.keep;
    return result;
  } finally {
    if (isKept) say(`kept: ${folder}`);
    else await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
