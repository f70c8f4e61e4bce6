// Measures of the source texts: files and lines, importers, composition roots, positional parameters.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { filesIn } from "../check/repository.mjs";

/**
 * Pages of the dashboard are not counted: its components follow rules of their own. Nor are generated files: people read what those are
 * generated from.
 */
export function sourceTexts(root) {
  const isSource = (path) => /^packages\/(?!dashboard\/)[^/]+\/src\//.test(path) && !path.includes("/generated/");
  const files = filesIn(root, /\.tsx?$/).filter(isSource);
  return new Map(files.map((path) => [path, readFileSync(root + path, "utf8")]));
}

/** Lines as `wc -l` counts them. */
export function lineCount(texts) {
  return [...texts.values()].reduce((sum, text) => sum + text.split("\n").length - 1, 0);
}

/**
 * Files that exactly one other source file imports or re-exports, types included. Tests are not importers; an index.ts is.
 * @param {ReturnType<typeof import("../check/import-graph.mjs").importGraph>} graph
 */
export function filesWithOneImporter(graph) {
  const importers = new Map();
  for (const [file, edges] of graph) {
    for (const { target } of edges) {
      if (graph.has(target)) importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  }
  return [...importers].filter(([, files]) => files.size === 1).map(([file]) => file);
}

/** From so many other folders a composition root builds parts. A component may build those of one or two folders below it. */
const rootFolders = 3;

/**
 * Composition roots of the engine: files that build parts of three or more other engine folders, with `new` or by calling a function
 * named make… or create…. The engine's own composition is meant to be one of them, and the only one.
 * @param {Map<string, string>} texts of sources by path
 */
export function compositionRoots(texts) {
  const engine = "packages/engine/src/";
  return [...texts.keys()].filter(
    (path) => path.startsWith(engine) && builtFolders(path.slice(engine.length), texts.get(path)).size >= rootFolders,
  );
}

function builtFolders(path, text) {
  const folderOf = (file) => (file.includes("/") ? file.split("/")[0] : "");
  const folders = new Set();
  for (const [, names, specifier] of text.matchAll(/^import \{([^}]*)\} from "(\.[^"]+)";/gm)) {
    const target = folderOf(posix.join(posix.dirname(path), specifier));
    if (target === folderOf(path)) continue;
    const values = names.split(",").filter((name) => !name.trim().startsWith("type "));
    const locals = values.map((name) => name.trim().split(" as ").at(-1)).filter(Boolean);
    const isBuilt = (name) =>
      new RegExp(/^(make|create)[A-Z]/.test(name) ? `\\b${name}\\(` : `\\bnew ${name}\\b`).test(text);
    if (locals.some(isBuilt)) folders.add(target);
  }
  return folders;
}

/**
 * Statements that use a parameter of position 10 or above: "file: name".
 * @param {Map<string, string>} texts of SQL files by path
 */
export function longStatements(texts) {
  return [...texts].flatMap(([path, text]) => {
    const [, ...statements] = text.replace(/--(?! name: ).*$/gm, "").split(/^-- name: /m);
    const long = statements.filter((statement) => /\$\d\d/.test(statement));
    return long.map((statement) => `${path}: ${statement.split("\n", 1)[0]}`);
  });
}

/** The SQL files of the packages, in any folder, except migrations. */
export function sqlTexts(root) {
  const files = filesIn(root, /\.sql$/).filter((path) => /^packages\/(?!.*\/migrations\/)/.test(path));
  return new Map(files.map((path) => [path, readFileSync(root + path, "utf8")]));
}
