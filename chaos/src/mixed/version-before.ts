import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Print } from "../run-chaos.js";
import { root } from "../root.js";

const run = promisify(execFile);

/** Holds the commit that landed last. The release process updates it; a newer tag wins over it. */
const landedCommitFile = join(root, "chaos/landed-commit");

/** This checkout lacks the version before, so the scenario cannot run. */
export class VersionBeforeMissing extends Error {
  override readonly name = "VersionBeforeMissing";
}

export interface BuiltVersion {
  /** The root folder of its checkout. */
  readonly root: string;
  remove(): Promise<void>;
}

async function git(...args: string[]): Promise<string> {
  return (await run("git", args, { cwd: root })).stdout.trim();
}

/** The commit of the version before: the given one, else the newest tag, else the one that landed last. */
export async function commitBefore(ref: string | null): Promise<string> {
  const tag = await git("describe", "--tags", "--abbrev=0").catch(() => null);
  const name = ref ?? tag ?? readFileSync(landedCommitFile, "utf8").trim();
  try {
    return await git("rev-parse", "--verify", "--end-of-options", `${name}^{commit}`);
  } catch {
    const isShallow = (await git("rev-parse", "--is-shallow-repository").catch(() => "true")) === "true";
    const why = isShallow
      ? "this clone is shallow or no clone: git fetch --unshallow --tags"
      : "the repository has no such commit";
    throw new VersionBeforeMissing(`The version before, ${name}, cannot be built: ${why}.`);
  }
}

/** Builds a commit in a git worktree of its own below the folder. */
export async function buildVersion(commit: string, folder: string, print: Print): Promise<BuiltVersion> {
  const checkout = join(folder, "version-before");
  print(`building ${commit.slice(0, 12)} in ${checkout}`);
  const remove = async (): Promise<void> => {
    await rm(checkout, { recursive: true, force: true, maxRetries: 5 });
    await git("worktree", "prune");
  };
  await git("worktree", "add", "--detach", checkout, commit);
  try {
    for (const args of [
      ["ci", "--no-audit", "--no-fund"],
      ["run", "build"],
    ])
      await run("npm", args, { cwd: checkout, maxBuffer: 2 ** 26 });
  } catch (error) {
    await remove();
    throw error;
  }
  return { root: checkout, remove };
}
