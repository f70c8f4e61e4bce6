// Reads a tarball and checks what must and what may be in it; `npm run pack` applies these rules.

const allowed = [
  /^(?:lib\/[\w-]+\/)?package\.json$/,
  /^(?:README\.md|LICENSE|NOTICE)$/,
  /^(?:lib\/[\w-]+\/)?dist\/.+\.(?:js|d\.ts)$/,
  /^bin\/[\w-]+\.js$/,
  /^lib\/[\w-]+\/src\/[\w-]+\/(?:generated\/)?[\w-]+\.(?:sql|json|LICENSE\.txt)$/,
];
const needed = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"];

/**
 * @param {{ name: string, files: readonly string[] }} packed
 * @returns {string[]} findings
 */
export function contentFindings({ name, files }) {
  const extra = files.filter((file) => !allowed.some((pattern) => pattern.test(file)));
  const missing = needed.filter((file) => !files.includes(file));
  return [
    ...extra.map((file) => `${name}: ${file} does not belong in the tarball`),
    ...missing.map((file) => `${name}: ${file} is missing in the tarball`),
  ];
}

const builtIn = /^node:/;

/**
 * Code and types may import files of the tarball, modules of Node and declared packages.
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
      const isAvailable = builtIn.test(specifier) || declared.includes(module) || module === name;
      return isAvailable ? [] : [`${name}: ${file} imports ${specifier}, which the package does not depend on`];
    }),
  );
}

/** Import specifiers as the compiler writes them: one per line, or a call. */
function specifiersOf(text) {
  const statements = text.matchAll(/^(?:import|export) (?:[\w*{][^"'();=]*from )?"([^"\n]+)";$/gm);
  const calls = text.matchAll(/\bimport\("([^"\n]+)"\)/g);
  return [...statements, ...calls].map(([, specifier]) => specifier);
}

/** The size of a block of a tar archive, in bytes. */
const tarBlock = 512;

/**
 * The texts of the files whose names match, by name without the folder that npm puts around them.
 * @param {Buffer} tar
 * @param {RegExp} pattern
 * @returns {Map<string, string>}
 */
export function filesOfTar(tar, pattern) {
  const files = new Map();
  for (let at = 0; at + tarBlock <= tar.length && tar[at] !== 0;) {
    const field = (from, length) => tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8) || 0;
    const prefix = field(345, 155);
    const name = (prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`).replace(/^[^/]+\//, "");
    if (pattern.test(name)) files.set(name, tar.toString("utf8", at + tarBlock, at + tarBlock + size));
    at += tarBlock + Math.ceil(size / tarBlock) * tarBlock;
  }
  return files;
}
