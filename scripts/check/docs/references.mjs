// What documents refer to exists: the targets of links and images, the paths of the code map, and the commands that README and
// CONTRIBUTING show (npm scripts, tiers of npm test, subcommands of carillon, files run with node).
import { posix } from "node:path";
import { anchorsOf, codeSpans, linksOf, splitFences } from "./markdown.mjs";

const isExternal = (target) => /^[a-z][a-z0-9+.-]*:/i.test(target);

/**
 * @param {Map<string, string>} documents texts by path from the repository's root
 * @param {(path: string) => boolean} exists whether a file or folder is there
 * @returns {string[]} a line for each broken link
 */
export function brokenLinks(documents, exists) {
  const anchors = new Map([...documents].map(([path, text]) => [path, anchorsOf(text)]));
  return [...documents].flatMap(([path, text]) =>
    linksOf(text).flatMap(({ target, line }) => {
      const reason = isExternal(target) ? null : whyBroken(path, target, anchors, exists);
      return reason === null ? [] : [`${path}:${line}: ${target}: ${reason}`];
    }),
  );
}

function whyBroken(from, target, anchors, exists) {
  const [file, anchor] = target.split("#", 2).map(decodeURIComponent);
  if (file.startsWith("/")) return "links inside the repository are relative";
  const path = file === "" ? from : posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, "");
  if (path.startsWith("..")) return "leads out of the repository";
  if (!exists(path)) return `there is no ${path}`;
  if (anchor === undefined || anchor === "") return null;
  const known = anchors.get(path);
  if (known === undefined) return null; // only Markdown has headings; lines of a source file are not checked
  return known.has(anchor) ? null : `${path} has no heading for #${anchor}`;
}

const namedFile = /^[\w./-]+\.(?:ts|sql|mjs|js)$/;

/**
 * @param {Map<string, string>} documents texts by path from the repository's root
 * @param {ReadonlySet<string>} names the names of all source files, without their folders
 * @returns {string[]} a line for each file in backticks that the repository does not have
 */
export function missingFiles(documents, names) {
  return [...documents].flatMap(([path, text]) =>
    codeSpans(text).flatMap(({ text: span, line }) =>
      !namedFile.test(span) || names.has(posix.basename(span)) ? [] : [`${path}:${line}: there is no file ${span}`],
    ),
  );
}

const pathCell = /^\|\s*`([^`]+)`\s*\|/;

/**
 * The paths in the first column of the tables under "## Code map".
 * @param {string} text of docs/architecture.md
 * @returns {{ path: string, line: number }[]}
 */
export function mappedPaths(text) {
  let inMap = false;
  return text.split("\n").flatMap((line, index) => {
    if (line.startsWith("## ")) inMap = /^## Code map\s*$/.test(line);
    const path = inMap ? pathCell.exec(line)?.[1] : undefined;
    return path === undefined ? [] : [{ path: path.replace(/\/$/, ""), line: index + 1 }];
  });
}

/**
 * @param {readonly { path: string, line: number }[]} mapped
 * @param {readonly string[]} sourceFolders packages/<name>/src/<folder> of every package
 * @param {(path: string) => boolean} exists
 * @returns {string[]}
 */
export function codeMapFindings(mapped, sourceFolders, exists) {
  if (mapped.length === 0) return ['docs/architecture.md: no paths under a heading "## Code map"'];
  const known = new Set(mapped.map(({ path }) => path));
  const missing = mapped
    .filter(({ path }) => !exists(path))
    .map(({ path, line }) => `docs/architecture.md:${line}: the code map names ${path}, which does not exist`);
  const unmapped = sourceFolders
    .filter((folder) => !known.has(folder))
    .map((folder) => `docs/architecture.md: the code map lacks ${folder}`);
  return [...missing, ...unmapped];
}

/**
 * @typedef {object} Known
 * @property {ReadonlySet<string>} scripts of the root package.json
 * @property {ReadonlySet<string>} tiers that `npm test -- …` takes
 * @property {ReadonlySet<string>} subcommands of carillon: "dev", "job create"
 * @property {(path: string) => boolean} exists
 */

const npmCommands = new Set(["ci", "install", "exec", "pack", "view", "ls"]);

/**
 * The subcommands that the reference of the command line lists; it is generated from their declarations.
 * @param {string} text of docs/reference/cli.md
 * @returns {Set<string>}
 */
export function subcommandsOf(text) {
  return new Set([...text.matchAll(/^### carillon (.+)$/gm)].map(([, path]) => path));
}

/**
 * The tiers that scripts/test.mjs declares.
 * @param {string} source
 * @returns {Set<string>}
 */
export function tiersOf(source) {
  const body = /const tiers = \{([\s\S]*?)\n\};/.exec(source)?.[1] ?? "";
  return new Set([...body.matchAll(/^ {2}"?([\w-]+)"?:/gm)].map((match) => match[1]));
}

/**
 * The commands of a document: lines of its sh blocks, and code spans.
 * @param {string} text
 * @returns {{ words: string[], line: number }[]}
 */
export function commandsOf(text) {
  const blocks = splitFences(text).fences.filter(({ language }) => language === "sh");
  const lines = blocks.flatMap(({ text: block, line }) =>
    block.split("\n").map((content, index) => ({ text: content, line: line + 1 + index })),
  );
  return [...lines, ...codeSpans(text)].flatMap(({ text: content, line }) =>
    content
      .replace(/(^|\s)#.*$/, "")
      .split(/&&|\|\||;|\|/)
      .map((part) => ({ words: part.trim().split(/\s+/).filter(Boolean), line }))
      .filter(({ words }) => words.length > 0),
  );
}

/**
 * @param {string} path of the document
 * @param {string} text
 * @param {Known} known
 * @returns {string[]}
 */
export function commandFindings(path, text, known) {
  return commandsOf(text).flatMap(({ words, line }) => {
    const reason = whyUnknown(
      words.filter((word) => !/^[A-Z_]+=/.test(word)),
      known,
    );
    return reason === null ? [] : [`${path}:${line}: ${words.join(" ")}: ${reason}`];
  });
}

function whyUnknown([program, ...rest], known) {
  if (program === "npm") return whyNotNpm(rest, known);
  if (program === "npx" && rest[0] === "carillon") return whyNotCarillon(rest.slice(1), known);
  if (program === "carillon") return whyNotCarillon(rest, known);
  if (program === "node" && /\.m?js$/.test(rest[0] ?? "")) {
    if (/(^|\/)bin\/carillon\.js$/.test(rest[0])) return whyNotCarillon(rest.slice(1), known);
    return known.exists(rest[0]) ? null : `there is no ${rest[0]}`;
  }
  return null;
}

function whyNotNpm([verb, ...rest], known) {
  if (verb === undefined || verb.startsWith("-") || npmCommands.has(verb)) return null;
  const script = verb === "run" ? rest[0] : verb;
  if (script === undefined || !known.scripts.has(script)) return `package.json has no script ${script}`;
  if (script !== "test") return null;
  const asked = rest.includes("--") ? rest.slice(rest.indexOf("--") + 1) : [];
  const unknown = asked.filter((tier) => !known.tiers.has(tier));
  return unknown.length === 0 ? null : `npm test has no tier ${unknown.join(", ")}`;
}

function whyNotCarillon(words, known) {
  const [noun, verb] = words;
  if (noun === undefined || noun.startsWith("-") || known.subcommands.has(noun)) return null;
  return known.subcommands.has(`${noun} ${verb}`)
    ? null
    : `carillon has no command ${[noun, verb].filter(Boolean).join(" ")}`;
}
