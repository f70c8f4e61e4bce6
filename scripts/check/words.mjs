// Finds private vocabulary in sources, tests, SQL, scripts and documents. `node scripts/check/words.mjs [path…]` prints each place;
// `--count` prints a line per folder. The words, and what to write instead, are in words.json.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { banned, excluded } = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8"));
const rules = banned.map(({ pattern, flags = "g", ...rule }) => ({ ...rule, pattern: new RegExp(pattern, flags) }));
const skipped = excluded.map((pattern) => new RegExp(pattern));

/** Every banned word in a text: { line, word, instead }. */
export function bannedWordsIn(text) {
  const found = [];
  for (const [index, line] of text.split("\n").entries()) {
    for (const { pattern, instead } of rules) {
      for (const [word] of line.matchAll(pattern)) found.push({ line: index + 1, word, instead });
    }
  }
  return found;
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const found = violationsIn(paths);
  if (process.argv.includes("--count")) {
    const folders = new Map();
    for (const { file } of found) {
      const folder = file
        .split("/")
        .slice(0, file.startsWith("packages/") ? 4 : 2)
        .join("/");
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
    for (const [folder, count] of [...folders].sort((a, b) => b[1] - a[1]))
      console.log(`${String(count).padStart(6)}  ${folder}`);
  } else {
    for (const { file, line, word, instead } of found) console.error(`${file}:${line}: "${word}": ${instead}`);
  }
  console.log(`words: ${found.length} banned words`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
