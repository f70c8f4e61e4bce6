// Writes into docs/invariants.md, under each invariant, its audit query of packages/store/src/audit/audit.sql. With --check it
// writes nothing and exits with 1 when the file is not as it would be written.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const statementPattern = /^-- name: audit\.inv_(\d+)\n(?:--.*\n)*([\s\S]*?;\n)/gm;
const blockPattern = /(<!-- audit of INV-(\d+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * The audit queries, by the number of their invariant.
 * @param {string} sql
 * @returns {Map<number, string>}
 */
export function auditsIn(sql) {
  return new Map([...sql.matchAll(statementPattern)].map(([, number, query]) => [Number(number), query]));
}

/**
 * The document with every block filled anew. Throws when a query has no block, or a block no query.
 * @param {string} text of docs/invariants.md
 * @param {ReadonlyMap<number, string>} audits
 * @returns {string}
 */
export function withAudits(text, audits) {
  const left = new Map(audits);
  const written = text.replace(blockPattern, (_, open, number, close) => {
    const query = left.get(Number(number));
    if (query === undefined) throw new Error(`docs/invariants.md: no statement audit.inv_${number} for its block`);
    left.delete(Number(number));
    return `${open}\`\`\`sql\n${query}\`\`\`\n${close}`;
  });
  if (left.size > 0)
    throw new Error(`docs/invariants.md: no block for the audit of INV-${[...left.keys()].join(", ")}`);
  return written;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const path = `${root}docs/invariants.md`;
  const before = readFileSync(path, "utf8");
  const after = withAudits(before, auditsIn(readFileSync(`${root}packages/store/src/audit/audit.sql`, "utf8")));
  if (before === after) console.log("docs/invariants.md: audits up to date");
  else if (process.argv.includes("--check")) {
    console.error("docs/invariants.md: the audit queries are not those of packages/store/src/audit/audit.sql");
    process.exitCode = 1;
  } else {
    writeFileSync(path, after);
    console.log("docs/invariants.md: audits written");
  }
}
