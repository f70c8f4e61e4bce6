// What may be in a tarball, and what must be: the rules that `npm run pack` holds.

const allowed = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^dist\/.+\.js$/,
  /^dist\/.+\.d\.ts$/,
  /^bin\/[\w-]+\.js$/,
  /^src\/[\w-]+\/[\w-]+\.sql$/,
];
const needed = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"];

/**
 * @param {{ name: string, files: readonly string[] }} packed
 * @returns {string[]} what is wrong
 */
export function contentFindings({ name, files }) {
  const extra = files.filter((file) => !allowed.some((pattern) => pattern.test(file)));
  const missing = needed.filter((file) => !files.includes(file));
  return [
    ...extra.map((file) => `${name}: ${file} does not belong into the tarball`),
    ...missing.map((file) => `${name}: ${file} is missing in the tarball`),
  ];
}

const builtIn = /^node:/;

/**
 * What code and types import must be there: a file of the tarball, Node, or a declared package.
 * @param {string} name
 * @param {ReadonlyMap<string, string>} texts of the files of the tarball
 * @param {{ dependencies?: object, peerDependencies?: object, optionalDependencies?: object }} manifest
 */
export function importFindings(name, texts, manifest) {
  const declared = Object.keys({
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...manifest.optionalDependencies,
  });
  return [...texts].flatMap(([file, text]) =>
    specifiersOf(text).flatMap((specifier) => {
      if (specifier.startsWith(".")) {
        const target = new URL(specifier, `file:///${file}`).pathname.slice(1);
        const wanted = file.endsWith(".d.ts") ? target.replace(/\.js$/, ".d.ts") : target;
        return texts.has(wanted) ? [] : [`${name}: ${file} imports ${specifier}, which is not in the tarball`];
      }
      const module = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
      const isThere = builtIn.test(specifier) || declared.includes(module) || module === name;
      return isThere ? [] : [`${name}: ${file} imports ${specifier}, which the package does not depend on`];
    }),
  );
}

/** Imports as the compiler writes them: one a line, or a call. */
function specifiersOf(text) {
  const statements = text.matchAll(/^(?:import|export) (?:[\w*{][^"'();=]*from )?"([^"\n]+)";$/gm);
  const calls = text.matchAll(/\bimport\("([^"\n]+)"\)/g);
  return [...statements, ...calls].map(([, specifier]) => specifier);
}
