// Time and randomness are arguments: only a few folders may use the host's clock, timers and random numbers. Prints each other use; exit code
// 1 if there is one.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { sourceFiles } from "./import-graph.mjs";

const allowed =
  /^packages\/(core\/src\/time\/|server\/src\/timeout\.ts|embedded-postgres\/src\/timer\.ts|testkit\/src\/)/;
const ambient =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|(?<![.\w#])set(?:Timeout|Interval|Immediate)\((?!\w+: )|\bperformance\.now\(|process\.hrtime/;

export function ambientUses(file, source) {
  if (allowed.test(file)) return [];
  const code = source.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
  return code
    .split("\n")
    .flatMap((line, index) =>
      ambient.test(line.replace(/\/\/.*$/, "")) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const files = sourceFiles(`${root}packages`).filter((path) => /\/src\//.test(path));
  const found = files.flatMap((path) => ambientUses(relative(root, path), readFileSync(path, "utf8")));
  for (const use of found) console.error(use);
  console.log(`clocks, timers and random numbers: ${files.length} files, ${found.length} outside the allowed folders`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
