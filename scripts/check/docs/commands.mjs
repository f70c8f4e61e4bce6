// The commands that README and CONTRIBUTING tell readers to type exist: npm scripts, tiers of npm test, subcommands of
// carillon, files that are run with node.
import { codeSpans, splitFences } from "./markdown.mjs";

/**
 * @typedef {object} Known
 * @property {ReadonlySet<string>} scripts of the root package.json
 * @property {ReadonlySet<string>} tiers that `npm test -- …` takes
 * @property {ReadonlySet<string>} subcommands of carillon: "dev", "job create"
 * @property {(path: string) => boolean} exists
 */

const ownCommandsOfNpm = new Set(["ci", "install", "exec", "pack", "view", "ls"]);

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
  if (verb === undefined || verb.startsWith("-") || ownCommandsOfNpm.has(verb)) return null;
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
