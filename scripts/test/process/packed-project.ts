import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A folder for a project, removed with the test file's own clean-up or after the test. */
export async function projectDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), "carillon-test-"));
}

/** The same, for one test. */
export async function projectDirOfTest(): Promise<string> {
  const dir = await projectDir();
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** A package of the checking tools, as if the user had installed it. */
export async function linkTool(dir: string, name: string): Promise<void> {
  await symlink(join(root, "tools/node_modules", name), join(dir, "node_modules", name));
}

/** The first block of code of a guide, in this language. */
export async function firstExample(guide: string, language: string): Promise<string> {
  const text = await readFile(join(root, "docs/guides", guide), "utf8");
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (code === undefined) throw new Error(`${guide} has no example in ${language}`);
  return code;
}

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the project to its end; throws if that is not a good one. */
export async function runIn(
  dir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return run(process.execPath, args, { cwd: dir, env: { PATH: process.env["PATH"] ?? "", ...env } });
}

/** What the compiler says of programs of the project. */
export async function typeCheck(dir: string, files: readonly string[], options: readonly string[]): Promise<string> {
  const strict = ["--noEmit", "--strict", "--target", "es2023", "--types", "node"];
  const bin = join(root, "node_modules/.bin/tsc");
  const args = ["--ignoreConfig", ...strict, ...options, ...files];
  const { stdout } = await run(bin, args, { cwd: dir }).catch((error: { stdout: string }) => error);
  return stdout;
}
