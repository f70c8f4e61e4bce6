// Writes docs/reference/invariant-tests.md, the tests that prove each invariant, and fills the marked blocks of docs/invariants.md with the
// audit queries from packages/store/src/audit/audit.sql.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { proofsIn } from "../check/docs/invariants.mjs";
import { filesIn, textsOf } from "../check/repository.mjs";
import { isProgram, publish } from "./publish.mjs";

const auditBlock = /(<!-- audit of INV-(\d+) -->\n)[\s\S]*?(<!-- end -->)/g;
const auditStatement = /^-- name: audit\.inv_(\d+)\n(?:--.*\n)*([\s\S]*?;\n)/gm;

/**
 * The page with the tests of each invariant.
 * @param {readonly import("../check/docs/invariants.mjs").Proof[]} proofs
 * @returns {string}
 */
export function testsPage(proofs) {
  const numbers = [...new Set(proofs.map(({ number }) => number))].toSorted((a, b) => a - b);
  const sections = numbers.map((number) => {
    const own = proofs.filter((proof) => proof.number === number);
    return `\n## INV-${number}\n\n${own.map(lineOf).join("")}`;
  });
  return `# Tests of the invariants\n\nGenerated: the tests whose titles name an [invariant](../invariants.md).\n${sections.join("")}`;
}

function lineOf({ file, title }) {
  const words = title
    .replace(/\s*\[INV-\d+\]/g, "")
    .replace(/\\(.)/g, "$1")
    .replace(/[|<>*_`[\]]/g, "\\$&");
  const name = file
    .replace(/^packages\//, "")
    .replace(/\.test\.ts$/, "")
    .replace("/test/", ": ");
  return `- ${words} ([${name}](../../${file}))\n`;
}

/**
 * The audit queries by the number of their invariant.
 * @param {string} sql
 * @returns {Map<number, string>}
 */
export function auditsIn(sql) {
  return new Map([...sql.matchAll(auditStatement)].map(([, number, query]) => [Number(number), query]));
}

/**
 * The document with the current query in every block. Throws when a query has no block, or a block no query.
 * @param {string} text of docs/invariants.md
 * @param {ReadonlyMap<number, string>} audits
 * @returns {string}
 */
export function withAudits(text, audits) {
  const unused = new Map(audits);
  const written = text.replace(auditBlock, (_, open, number, close) => {
    const query = unused.get(Number(number));
    if (query === undefined) throw new Error(`docs/invariants.md: no statement audit.inv_${number} for its block`);
    unused.delete(Number(number));
    return `${open}\`\`\`sql\n${query}\`\`\`\n${close}`;
  });
  if (unused.size > 0)
    throw new Error(`docs/invariants.md: no block for the audit of INV-${[...unused.keys()].join(", ")}`);
  return written;
}

if (isProgram(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const page = "docs/invariants.md";
  const read = (path) => readFileSync(`${root}${path}`, "utf8");
  publish(import.meta.url, page, withAudits(read(page), auditsIn(read("packages/store/src/audit/audit.sql"))));
  const proofs = proofsIn(textsOf(root, filesIn(root, /\.test\.ts$/)));
  publish(import.meta.url, "docs/reference/invariant-tests.md", testsPage(proofs));
}
