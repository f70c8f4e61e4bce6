import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** What a user's project gets with `carillon`; the test kit is not published. */
const published = [
  "core",
  "condition",
  "contract",
  "client",
  "embedded-postgres",
  "engine",
  "worker",
  "executors",
  "server",
  "carillon",
];

/**
 * Makes an empty project with the packages as `npm pack` makes them. What they depend on comes from this checkout, so that nothing is
 * fetched; packages of ours come from their tarballs alone.
 */
export async function makePackedProject(dir: string): Promise<void> {
  const modules = join(dir, "node_modules");
  await writeFile(join(dir, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  const workspaces = published.flatMap((name) => ["-w", `packages/${name}`]);
  const args = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", dir, ...workspaces];
  const { stdout } = await run("npm", args, { cwd: root });
  const packed = JSON.parse(stdout) as { readonly filename: string; readonly name: string }[];
  for (const { filename, name } of packed) {
    await mkdir(join(modules, name), { recursive: true });
    await run("tar", ["-xzf", join(dir, filename), "-C", join(modules, name), "--strip-components", "1"]);
  }
  for (const name of await readdir(join(root, "node_modules"))) {
    if (name.startsWith(".") || name === "carillon" || name === "@carillon") continue;
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
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

/** Checks a TypeScript program of the project. */
export async function typeCheck(dir: string, file: string): Promise<string> {
  const options = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "node",
  ];
  const bin = join(root, "node_modules/.bin/tsc");
  const { stdout } = await run(bin, [...options, file], { cwd: dir }).catch((error: { stdout: string }) => error);
  return stdout;
}
