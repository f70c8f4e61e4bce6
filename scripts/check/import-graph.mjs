// Reads the import graph of the workspace's sources: files are nodes, relative imports and workspace packages are edges.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*["']([^"']+)["']|(?:^|[^\w.])import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)\s*import\s*["']([^"']+)["']/g;

/** Every import specifier of a source text, comments left out. */
export function importsOf(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3]);
}

export function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : sourceFiles(path);
    return /\.(ts|tsx|mts)$/.test(entry.name) ? [path] : [];
  });
}

/** file → [{ specifier, target }], paths relative to root; target is null for an import of another package. */
export function importGraph(root) {
  const packages = join(root, "packages");
  const graph = new Map();
  for (const name of readdirSync(packages)) {
    const src = join(packages, name, "src");
    if (!statSync(src, { throwIfNoEntry: false })?.isDirectory()) continue;
    for (const file of sourceFiles(src)) {
      const edges = importsOf(readFileSync(file, "utf8")).map((specifier) => ({
        specifier,
        target: targetOf(root, file, specifier),
      }));
      graph.set(relative(root, file), edges);
    }
  }
  return graph;
}

function targetOf(root, file, specifier) {
  if (!specifier.startsWith(".")) return null;
  return relative(root, resolve(dirname(file), specifier)).replace(/\.js$/, ".ts");
}

/** The cycles among files: each strongly connected set of two or more, and each file that imports itself. */
export function cyclesOf(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const cycles = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const { target } of graph.get(file) ?? []) {
      if (!graph.has(target)) continue;
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) low.set(file, Math.min(low.get(file), low.get(target)));
    }
    if (low.get(file) !== index.get(file)) return;
    const members = stack.splice(stack.indexOf(file));
    const importsItself = (graph.get(file) ?? []).some(({ target }) => target === file);
    if (members.length > 1 || importsItself) cycles.push(members.toSorted((a, b) => (a < b ? -1 : 1)));
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return cycles;
}
