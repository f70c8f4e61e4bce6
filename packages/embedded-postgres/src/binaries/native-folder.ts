import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { EmbeddedPostgresError, systemCode } from "../errors.js";
import { currentPlatform, packageFor } from "./platform.js";

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
  /** The file beside it that it stands for. */
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
