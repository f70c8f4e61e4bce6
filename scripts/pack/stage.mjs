// Puts a published package and the workspace packages that it needs into one folder, from which `npm pack` makes one tarball: imports of
// workspace packages become relative paths, and the libraries of others become the dependencies of the one package.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** An import of a workspace package as the compiler writes it, in code and in types. */
const workspaceImport = /(?<=\bfrom |\bimport |\bimport\()"(@carillon\/[^"]+)"/g;

/** The files of a workspace package that programs use; `src` has SQL and data that the code reads. */
const usedFile = /^(?:dist\/.+\.(?:js|d\.ts)|src\/.+\.(?:sql|json|LICENSE\.txt)|bin\/[\w-]+\.js)$/;

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {Readonly<Record<string, { types: string, default: string } | string>>} exports
 * @property {Readonly<Record<string, string>>} [dependencies]
 * @property {Readonly<Record<string, string>>} [optionalDependencies]
 * @property {Readonly<Record<string, string>>} [peerDependencies]
 */

/** @returns {Map<string, { dir: string, manifest: Manifest }>} the workspace packages, by name */
export function workspacePackages() {
  const dirs = readdirSync(`${root}packages`);
  const packages = dirs.map((dir) => {
    const manifest = JSON.parse(readFileSync(`${root}packages/${dir}/package.json`, "utf8"));
    return [manifest.name, { dir, manifest }];
  });
  return new Map(packages);
}

/**
 * The workspace packages that a package needs, and those that it needs only as long as optional dependencies are not left out.
 * @param {string} name
 * @param {ReturnType<typeof workspacePackages>} packages
 */
export function closureOf(name, packages) {
  const required = new Set();
  const optional = new Set();
  const add = (one, found) => {
    if (!packages.has(one) || required.has(one) || found.has(one)) return;
    found.add(one);
    for (const needed of Object.keys(packages.get(one).manifest.dependencies ?? {})) add(needed, found);
  };
  add(name, required);
  for (const one of required)
    for (const needed of Object.keys(packages.get(one).manifest.optionalDependencies ?? {})) add(needed, optional);
  return { required: [...required], optional: [...optional] };
}

/**
 * The manifest of the one package: the dependencies of all packages in it. A library that only optional packages need is optional.
 * @param {string} name
 * @param {ReturnType<typeof workspacePackages>} packages
 */
export function stagedManifest(name, packages) {
  const { required, optional } = closureOf(name, packages);
  const collect = (names, key) => {
    const found = {};
    for (const [library, version] of names.flatMap((one) => Object.entries(packages.get(one).manifest[key] ?? {}))) {
      if (packages.has(library)) continue;
      if ((found[library] ?? version) !== version)
        throw new Error(`two versions of ${library}: ${found[library]}, ${version}`);
      found[library] = version;
    }
    return found;
  };
  const dependencies = collect(required, "dependencies");
  const ofOptional = {
    ...collect(optional, "dependencies"),
    ...collect([...required, ...optional], "optionalDependencies"),
  };
  const optionalDependencies = Object.fromEntries(Object.entries(ofOptional).filter(([one]) => !(one in dependencies)));
  const peerDependencies = collect([...required, ...optional], "peerDependencies");
  const peers = Object.keys(peerDependencies);
  const { devDependencies: _, files: __, ...manifest } = packages.get(name).manifest;
  return {
    ...manifest,
    dependencies: sorted(dependencies),
    ...(Object.keys(optionalDependencies).length > 0 && { optionalDependencies: sorted(optionalDependencies) }),
    ...(peers.length > 0 && {
      peerDependencies: sorted(peerDependencies),
      peerDependenciesMeta: Object.fromEntries(peers.toSorted().map((peer) => [peer, { optional: true }])),
    }),
  };
}

const sorted = (object) => Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Writes the files of the one package. The package itself is at the top of the folder, and each package that it needs in lib/<name>.
 * @param {string} name
 * @param {string} folder
 */
export function stage(name, folder) {
  const packages = workspacePackages();
  const { required, optional } = closureOf(name, packages);
  const placeOf = (one) => (one === name ? "." : `lib/${packages.get(one).dir}`);
  const entryOf = (specifier) => {
    const [scope, short, ...subpath] = specifier.split("/");
    const one = `${scope}/${short}`;
    return join(placeOf(one), packages.get(one).manifest.exports[[".", ...subpath].join("/")].default);
  };
  const texts = new Map();
  for (const one of [...required, ...optional]) {
    const { dir, manifest } = packages.get(one);
    const source = `${root}packages/${dir}`;
    for (const path of filesIn(source).filter((file) => usedFile.test(file))) {
      const text = readFileSync(`${source}/${path}`, "utf8");
      const place = join(placeOf(one), path);
      const isCode = /\.(?:js|d\.ts)$/.test(path);
      texts.set(place, isCode ? withRelativeImports(text, place, entryOf) : text);
    }
    if (one !== name) texts.set(join(placeOf(one), "package.json"), libraryManifest(manifest));
  }
  const manifest = stagedManifest(name, packages);
  texts.set("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  for (const path of unreachable(texts, manifest)) texts.delete(path);
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: path.startsWith("bin/") ? 0o755 : 0o644 });
  }
  for (const file of ["README.md", "LICENSE"])
    cpSync(`${root}packages/${packages.get(name).dir}/${file}`, join(folder, file));
  // A licence beside a file is an exception to that of the package.
  if ([...texts.keys()].some((path) => path.endsWith(".LICENSE.txt"))) cpSync(`${root}NOTICE`, join(folder, "NOTICE"));
}

/**
 * With slashes on every system.
 * @param {string} folder
 * @returns {string[]}
 */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
}

/** @param {string} text @param {string} place @param {(specifier: string) => string} entryOf */
export function withRelativeImports(text, place, entryOf) {
  return text.replaceAll(workspaceImport, (_whole, specifier) => {
    const path = relative(dirname(place), entryOf(specifier));
    return JSON.stringify(path.startsWith(".") ? path : `./${path}`);
  });
}

/** Code reads its version from the manifest beside it, and tools list what a package contains. */
function libraryManifest({ name, version, license }) {
  return `${JSON.stringify({ name, version, private: true, license, type: "module" }, null, 2)}\n`;
}

/** A module that another one imports, or that it starts as a thread or a program. */
const mention = /(?:\bfrom |\bimport |\bimport\(|\bnew URL\()"(\.[^"]+\.js)"/g;

/** Code and types that no entry of the package reaches: the types of the command line and of the server, for example. */
function unreachable(texts, manifest) {
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path) || !texts.has(path)) return;
    reached.add(path);
    const isType = path.endsWith(".d.ts");
    for (const [, specifier] of texts.get(path).matchAll(mention)) {
      const target = join(dirname(path), specifier);
      visit(isType ? target.replace(/\.js$/, ".d.ts") : target);
    }
  };
  const entries = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "object" ? [entry.types, entry.default] : [],
  );
  for (const entry of [...entries, ...Object.values(manifest.bin ?? {})]) visit(join(entry));
  return [...texts.keys()].filter((path) => /\.(?:js|d\.ts)$/.test(path) && !reached.has(path));
}
