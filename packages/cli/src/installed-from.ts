import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** How a project gets the Carillon that runs. */
export interface InstalledFrom {
  /** For `dependencies` in a package.json: a range of versions, or a tarball or a folder on this machine. */
  readonly dependency: string;
  /** Why it is not a range of versions of the registry; null: it is. */
  readonly note: string | null;
}

/** The folder of the package `carillon`: in a checkout beside the command line, in a tarball around it. */
const packageFolder = [new URL("../../carillon", import.meta.url), new URL("../../..", import.meta.url)]
  .map((url) => fileURLToPath(url))
  .find((folder) => manifestIn(folder)?.["name"] === "carillon");

const pathForm = /^(?:file|link|portal):(.*)$/;

/**
 * Finds out from where the running Carillon was installed. The manifest of the project that contains it names a version, a tarball, a folder
 * or an address. Without such a project, as in a global install, a new project links the installed folder: whether a registry has this version
 * is not known.
 * @param target the folder of the new project, which exists; paths are relative to it
 */
export function installedFrom(
  target: string,
  {
    folder = packageFolder,
    userAgent = "",
  }: { readonly folder?: string | undefined; readonly userAgent?: string } = {},
): InstalledFrom {
  if (folder === undefined) throw new Error("the package carillon is not beside the command line");
  const pathTo = (path: string): string => relative(realpathSync(target), path).replaceAll("\\", "/");
  const link = (path: string): string => `${/^(?:pnpm|yarn)\//.test(userAgent) ? "link" : "file"}:${pathTo(path)}`;
  if (existsSync(join(folder, "src"))) {
    return { dependency: link(folder), note: `this Carillon runs from a checkout, so package.json links ${folder}` };
  }
  const found = projectOf(folder);
  if (found === null) {
    const note = `this Carillon is not installed in a project, so package.json links ${folder}`;
    return { dependency: link(folder), note };
  }
  const [, path] = pathForm.exec(found.dependency) ?? [];
  if (path === undefined) return { dependency: found.dependency, note: noteOnAddress(found.dependency) };
  const absolute = resolve(found.dir, path);
  if (!existsSync(absolute)) {
    const note = `${absolute}, from which this Carillon was installed, does not exist any more, so package.json links ${folder}`;
    return { dependency: link(folder), note };
  }
  return {
    dependency: `file:${pathTo(absolute)}`,
    note: `this Carillon was installed from ${absolute}, and so will the project's be`,
  };
}

function noteOnAddress(dependency: string): string | null {
  return dependency.includes("/")
    ? `this Carillon was installed from ${dependency}, and so will the project's be`
    : null;
}

/** The closest folder above whose manifest depends on the package that is installed in it. */
function projectOf(folder: string): { readonly dir: string; readonly dependency: string } | null {
  for (let dir = dirname(folder); dir !== dirname(dir); dir = dirname(dir)) {
    const manifest = manifestIn(dir);
    for (const key of ["dependencies", "devDependencies", "optionalDependencies"]) {
      const dependency = (manifest?.[key] as Readonly<Record<string, unknown>> | undefined)?.["carillon"];
      if (typeof dependency === "string") return { dir, dependency };
    }
  }
  return null;
}

function manifestIn(folder: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
