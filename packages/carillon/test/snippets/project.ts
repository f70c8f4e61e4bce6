import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Libraries of others that the documents show together with ours; the checking tools bring them. */
const peers = ["drizzle-orm", "express", "kysely", "postgres", "zod"];

/** A user's project with the packages of this checkout installed, and the commands that its shell finds. */
export interface Project {
  readonly dir: string;
  readonly url: string;
  readonly databaseUrl: string;
  /** Free when the project was made: for a server of the reader's own. */
  readonly port: number;
  /** What programs are given: no address of a server, so that they say themselves what they want. */
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export async function makeProject({ url, databaseUrl }: { url: string; databaseUrl: string }): Promise<Project> {
  const dir = await mkdtemp(join(tmpdir(), "carillon-docs-"));
  await writeFile(join(dir, "package.json"), JSON.stringify({ name: "reader", private: true, type: "module" }));
  await linkModules(join(dir, "node_modules"));
  await linkCommands(join(dir, "bin"));
  const env = {
    PATH: `${join(dir, "bin")}:${process.env["PATH"] ?? ""}`,
    HOME: dir,
    DATABASE_URL: databaseUrl,
    CARILLON_DATABASE_URL: databaseUrl,
    CARILLON_PORT: "0",
    CARILLON_SKIP_BUILD: "1",
    // Jobs of the documents call addresses that do not answer; they must not delay the end.
    CARILLON_SHUTDOWN_GRACE_PERIOD: "1s",
    READER_URL: url,
    READER_CURL: execFileSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).trim(),
    READER_STATUS: "/dev/null",
    NO_COLOR: "1",
  };
  return {
    dir,
    url,
    databaseUrl,
    port: await freePort(),
    env,
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function linkModules(modules: string): Promise<void> {
  await mkdir(modules);
  const ours = (await readdir(join(root, "node_modules"))).filter((name) => !name.startsWith("."));
  for (const name of ours) await symlink(join(root, "node_modules", name), join(modules, name));
  for (const name of peers.filter((peer) => !ours.includes(peer)))
    await symlink(join(root, "tools/node_modules", name), join(modules, name));
}

/** `npx carillon` without npm in between, with the server of the check where the command names none. */
async function linkCommands(bin: string): Promise<void> {
  await mkdir(bin);
  const shim = join(root, "packages/carillon/bin/carillon.js");
  const commands = {
    npx: 'exec "$@"',
    carillon: `export CARILLON_URL="\${CARILLON_URL:-$READER_URL}"; exec '${process.execPath}' '${shim}' "$@"`,
    // The status of the answer goes to a file beside the command's own.
    curl: `exec "$READER_CURL" -w '%{stderr}%{http_code}' "$@" 2>"$READER_STATUS"`,
  };
  for (const [name, line] of Object.entries(commands)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${line}\n`);
    await chmod(join(bin, name), 0o755);
  }
}

/** The folder of one document, with the examples beside it. */
export async function documentDir({ dir }: Project, document: string): Promise<string> {
  const path = join(dir, document.replaceAll(/[^\w-]+/g, "-"));
  await mkdir(path);
  // Copied, so that the examples find the packages of the project.
  await cp(join(root, "examples"), join(path, "examples"), { recursive: true });
  return path;
}

/**
 * What a document writes for something that each reader has another of: the server's address, the database, the id of a run that
 * ended, of a worker.
 */
export async function withStandIns(project: Project, text: string): Promise<string> {
  const { host } = new URL(project.url);
  let made = text
    .replaceAll(/(?<=PORT=|127\.0\.0\.1:)3000\b/g, String(project.port))
    .replaceAll(/(?:127\.0\.0\.1|localhost|[ab]\.example):8023/g, host)
    .replaceAll(
      /postgres:\/\/(?:[^\s'"@]*@)?(?:host|localhost|db\.example)(?::\d+)?(?:,db2\.example(?::\d+)?)?\/\w+/g,
      project.databaseUrl,
    );
  for (const [form, find] of ids) {
    if (form.test(made)) made = made.replaceAll(new RegExp(form, "g"), await find(project.url));
  }
  return made;
}

const ids: readonly (readonly [RegExp, (url: string) => Promise<string>])[] = [
  [/run_01k9zq3v5e0r8t2b7n4m6x1c9d/, (url) => newest(`${url}/v1/runs?status=finished&page_size=1`, "runs")],
  [/wrk_01k9zq3v5e0r8t2b7n4m6x1c9d/, (url) => newest(`${url}/v1/workers?page_size=1`, "workers")],
  [/job_01k9zq3v5e0r8t2b7n4m6x1c9d/, (url) => newest(`${url}/v1/jobs?page_size=1`, "jobs")],
];

async function newest(url: string, list: string): Promise<string> {
  const answer = (await (await fetch(url)).json()) as Record<string, readonly { readonly id: string }[]>;
  return answer[list]?.[0]?.id ?? "none";
}
