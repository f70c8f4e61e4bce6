import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CarillonError } from "@carillon/core";
import { NonRetryableError } from "@carillon/worker";

export interface OptionalLibrary {
  readonly name: string;
  /** The version to install; it runs on every supported Node. */
  readonly version: string;
  /** The first major version that needs Node 22. */
  readonly node22From?: number;
  /** What needs it, as the first words of the error. */
  readonly neededBy: string;
}

export interface FindOptions {
  /** Searched first, so that a command line that is installed elsewhere uses the libraries of the project in which it runs. */
  readonly cwd?: string | undefined;
  readonly nodeVersion?: string;
}

/**
 * Finds a library that is an optional peer. Throws config_invalid if it is not installed, or not for this Node. The returned function
 * loads the library; that takes a tenth of a second or more, so an executor calls it in its first run.
 */
export function findLibrary<Library>(library: OptionalLibrary, options: FindOptions = {}): () => Promise<Library> {
  const { cwd = process.cwd(), nodeVersion = process.versions.node } = options;
  const { name, version, node22From, neededBy } = library;
  const install = `npm install ${name}@${version}`;
  const require = requireOf(name, [join(cwd, "package.json"), import.meta.url]);
  if (require === null)
    throw new CarillonError(
      "config_invalid",
      `${neededBy} needs the package ${name}, which is not installed: ${install}`,
    );
  const manifest = JSON.parse(readFileSync(require.resolve(`${name}/package.json`), "utf8")) as { version: string };
  // Its import would not only fail: it leaves a rejection that ends the process.
  if (node22From !== undefined && Number.parseInt(manifest.version) >= node22From && Number.parseInt(nodeVersion) < 22)
    throw new CarillonError(
      "config_invalid",
      `${name} ${manifest.version} needs Node 22, and this is ${nodeVersion}: ${install}`,
    );
  const url = pathToFileURL(require.resolve(name)).href;
  return async () => {
    try {
      return (await import(url)) as Library;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new NonRetryableError(`The package ${name} cannot be loaded (${reason}): ${install}`, { cause: error });
    }
  };
}

function requireOf(name: string, bases: readonly string[]): NodeJS.Require | null {
  for (const base of bases) {
    const require = createRequire(base);
    try {
      require.resolve(name);
      return require;
    } catch {
      // Not there: the next base.
    }
  }
  return null;
}
