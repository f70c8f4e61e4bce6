import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CarillonError } from "@carillon/core";
import { NonRetryableError } from "@carillon/worker";

export interface OptionalLibrary {
  readonly name: string;
  /** The range to install; the executors work with it on every supported Node. */
  readonly version: string;
  /** What needs it, as the first words of the error. */
  readonly neededBy: string;
}

/**
 * Finds a library that is an optional peer, from the working directory first: a command line that is installed elsewhere uses the
 * libraries of the project in which it runs. Throws config_invalid if there is none. The answer loads the library; that takes a
 * tenth of a second or more, so an executor calls it in its first run.
 */
export function findLibrary<Library>(library: OptionalLibrary, cwd = process.cwd()): () => Promise<Library> {
  const { name, version, neededBy } = library;
  const install = `npm install ${name}@${version}`;
  const path = pathOf(name, [join(cwd, "package.json"), import.meta.url]);
  if (path === null)
    throw new CarillonError(
      "config_invalid",
      `${neededBy} needs the package ${name}, which is not installed: ${install}`,
    );
  return async () => {
    try {
      return (await import(pathToFileURL(path).href)) as Library;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new NonRetryableError(`The package ${name} cannot be loaded (${reason}): ${install}`, { cause: error });
    }
  };
}

function pathOf(name: string, bases: readonly string[]): string | null {
  for (const base of bases) {
    try {
      return createRequire(base).resolve(name);
    } catch {
      // Not there: the next base.
    }
  }
  return null;
}
