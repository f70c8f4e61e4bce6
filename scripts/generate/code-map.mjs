// Fills the marked block of docs/architecture.md: a row for each package, for each folder of its src, and for each folder below that with a
// README. The text of a row is from the folder's README, or from the table of folders in the package's README.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { arrows, folderOrders } from "../check/arrows.mjs";
import { filesIn } from "../check/repository.mjs";
import { isProgram, publish } from "./publish.mjs";

const block = /(<!-- code map, made by scripts\/generate\/code-map\.mjs from the READMEs -->\n)[\s\S]*?(<!-- end -->)/;

/** Packages whose folders are components: each needs a README of its own. */
const componentPackages = new Set(["engine"]);

/**
 * What a README says its folder is for: the part of its title after a colon, otherwise the first sentence of its text. Null: neither exists.
 * @param {string} readme
 * @returns {string | null}
 */
export function purposeIn(readme) {
  const [heading = "", ...paragraphs] = readme.trim().split(/\n\s*\n/);
  const titled = /^# [^:]+: (.+)$/.exec(heading)?.[1];
  const prose = paragraphs[0]?.replace(/\s*\n\s*/g, " ") ?? "";
  const sentence = /^[|#`!<-](?!\w)|^```/.test(prose) ? undefined : /^.+?(?:\.(?=\s|$)|:$)/.exec(prose)?.[0];
  const text = titled ?? sentence;
  return text === undefined ? null : asCell(text);
}

/**
 * The rows of the tables in a package's README that describe one folder of its src: folder → text.
 * @param {string} readme
 * @returns {Map<string, string>}
 */
export function foldersIn(readme) {
  return new Map(
    [...readme.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)].map(([, name, text]) => [
      withoutLinks(name)
        .replace(/^`|`$/g, "")
        .replace(/^src\/|\/$/g, ""),
      asCell(text),
    ]),
  );
}

const withoutLinks = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");

function asCell(text) {
  const plain = withoutLinks(text.trim()).replace(/[.:]$/, "");
  return plain[0].toUpperCase() + plain.slice(1);
}

/**
 * Every folder of the map, with its README if it has one: each package, then each folder of its src in the order in which they may import
 * each other, then folders below these that have a README.
 * @param {readonly string[]} files of the repository
 * @returns {{ path: string, packageName: string, folder: string | null, readme: string | null }[]}
 */
export function mappedFolders(files) {
  const known = new Set(files);
  const order = Object.keys(arrows);
  const rank = (packageName) => (order.includes(packageName) ? order.indexOf(packageName) : order.length);
  const packages = new Set(files.flatMap((file) => /^packages\/([^/]+)\/package\.json$/.exec(file)?.[1] ?? []));
  return [...packages]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((packageName) => {
      const source = `packages/${packageName}/src/`;
      const paths = files.filter((file) => file.startsWith(source)).map((file) => file.slice(source.length));
      const folders = new Set(paths.filter((path) => path.includes("/")).map((path) => path.split("/")[0]));
      const nested = paths.flatMap((path) => /^(.+\/.+)\/README\.md$/.exec(path)?.[1] ?? []);
      const folderOrder = folderOrders[packageName]?.order.map((entry) => entry.split("/")[0]) ?? [];
      const place = (path) => folderOrder.indexOf(path.split("/")[0]);
      const sorted = [...folders, ...nested].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
      return [null, ...sorted].map((folder) => {
        const path = folder === null ? `packages/${packageName}` : `${source}${folder}`;
        return { path, packageName, folder, readme: known.has(`${path}/README.md`) ? `${path}/README.md` : null };
      });
    });
}

/**
 * The rows of the map. Throws when a folder has no text, with the names of all these folders.
 * @param {readonly string[]} files of the repository
 * @param {(path: string) => string} read
 * @returns {string}
 */
export function codeMap(files, read) {
  const missing = [];
  const known = new Set(files);
  const packageReadme = (packageName) => {
    const path = `packages/${packageName}/README.md`;
    return known.has(path) ? read(path) : "";
  };
  const rows = mappedFolders(files).map(({ path, packageName, folder, readme }) => {
    const needsReadme = folder === null || (componentPackages.has(packageName) && !folder.includes("/"));
    const text = readme === null ? null : purposeIn(read(readme));
    const listed = needsReadme ? undefined : foldersIn(packageReadme(packageName)).get(folder);
    if (text === null && listed === undefined) missing.push(needsReadme ? `${path}/README.md` : path);
    const link = readme === null ? "" : ` ([README](../${readme}))`;
    return `| \`${path}/\` | ${text ?? listed}${link} |\n`;
  });
  if (missing.length > 0)
    throw new Error(
      `These need a README that begins with a sentence, or a row in the README of their package: ${missing.join(", ")}`,
    );
  return `\n| path | what is in it |\n|---|---|\n${rows.join("")}\n`;
}

/**
 * The page with the current map in its block.
 * @param {string} page
 * @param {string} map
 * @returns {string}
 */
export function withCodeMap(page, map) {
  if (!block.test(page)) throw new Error("docs/architecture.md has no block for the code map");
  return page.replace(block, (_, open, close) => `${open}${map}${close}`);
}

if (isProgram(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const read = (path) => readFileSync(`${root}${path}`, "utf8");
  const page = "docs/architecture.md";
  const files = filesIn(root, /./).filter((file) => file.startsWith("packages/"));
  try {
    publish(import.meta.url, page, withCodeMap(read(page), codeMap(files, read)));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 2;
  }
}
