// The code map of docs/architecture.md: what it names exists, and every folder that a package's sources begin with is in it.

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
  const gone = mapped
    .filter(({ path }) => !exists(path))
    .map(({ path, line }) => `docs/architecture.md:${line}: the code map names ${path}, which does not exist`);
  const absent = sourceFolders
    .filter((folder) => !known.has(folder))
    .map((folder) => `docs/architecture.md: the code map lacks ${folder}`);
  return [...gone, ...absent];
}
