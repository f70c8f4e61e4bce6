// Finds private vocabulary in sources, tests, SQL, scripts and documents, file names included. The words, and what to write instead, are
// in words.json.
//   node scripts/check/words.mjs [path…]            prints each place; exit code 1 if there is one
//   node scripts/check/words.mjs --count [path…]    prints a line per folder instead
//   node scripts/check/words.mjs --ratchet          exit code 1 if the repository has more than words.json allows; `npm test -- words`
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { allowed, banned, excluded } = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8"));
const rules = banned.map(({ pattern, instead }) => ({ instead, pattern: new RegExp(pattern, "gm") }));
const skipped = excluded.map((pattern) => new RegExp(pattern));

/**
 * Every banned word in a text, in order.
 * @param {string} text
 * @returns {{ line: number, word: string, instead: string }[]}
 */
export function bannedWordsIn(text) {
  const found = rules.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ index, 0: word }) => ({ index, word, instead })),
  );
  let line = 1;
  let at = 0;
  return found
    .sort((a, b) => a.index - b.index)
    .map(({ index, word, instead }) => {
      for (; at < index; at += 1) if (text[at] === "\n") line += 1;
      return { line, word, instead };
    });
}

/** The tracked and new text files below the given paths that the check covers. */
export function coveredFiles(paths = []) {
  const list = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--", ...paths], {
    cwd: root,
    encoding: "utf8",
  });
  return list
    .split("\n")
    .filter((file) => /\.(ts|tsx|mts|mjs|js|sql|md|css|html|sh)$/.test(file))
    .filter((file) => !skipped.some((pattern) => pattern.test(file)) && existsSync(root + file));
}

/** { file, line, word, instead } for every banned word, in file names too. */
export function violationsIn(paths = []) {
  return coveredFiles(paths).flatMap((file) => [
    ...bannedWordsIn(file.split("/").at(-1)).map((found) => ({ file, ...found, line: 0 })),
    ...bannedWordsIn(readFileSync(root + file, "utf8")).map((found) => ({ file, ...found })),
  ]);
}

/**
 * The number of banned words may only go down, until it is 0.
 * @param {number} count
 * @param {number} limit
 * @returns {{ isOk: boolean, message: string }}
 */
export function ratchetVerdict(count, limit) {
  if (count > limit) {
    const message = `${count} banned words, ${count - limit} more than scripts/check/words.json allows; find them with node scripts/check/words.mjs PATH`;
    return { isOk: false, message };
  }
  if (count === limit) return { isOk: true, message: `${count} banned words` };
  return { isOk: true, message: `${count} banned words; lower "allowed" in scripts/check/words.json from ${limit}` };
}

function countPerFolder(found) {
  const folders = new Map();
  for (const { file } of found) {
    const depth = file.startsWith("packages/") ? 4 : 2;
    const folder = file.split("/").slice(0, depth).join("/");
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  return [...folders].sort((a, b) => b[1] - a[1]);
}

function main() {
  const paths = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const found = violationsIn(paths);
  if (process.argv.includes("--ratchet")) {
    const { isOk, message } = ratchetVerdict(found.length, allowed);
    console[isOk ? "log" : "error"](`words: ${message}`);
    return isOk;
  }
  if (process.argv.includes("--count")) {
    for (const [folder, count] of countPerFolder(found)) console.log(`${String(count).padStart(6)}  ${folder}`);
  } else {
    for (const { file, line, word, instead } of found) console.error(`${file}:${line}: "${word}": ${instead}`);
  }
  console.log(`words: ${found.length} banned words`);
  return found.length === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main() ? 0 : 1;
