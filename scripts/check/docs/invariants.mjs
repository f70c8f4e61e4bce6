// Compares docs/invariants.md with the titles of tests: each invariant that a title names is declared, and each declared invariant is named
// by a title or states which part of the product is still missing.
import { testTitles } from "./test-titles.mjs";

/**
 * `missing` is the part that its "not yet provable" line names, null without such a line.
 * @typedef {{ number: number, title: string, line: number, missing: string | null }} Invariant
 * @typedef {{ number: number, file: string, title: string }} Proof `title` includes the titles of the enclosing blocks
 */

const headingPattern = /^## INV-(\d+): (.+)$/;
const missingPattern = /^not yet provable:\s*(.*)$/i;

/**
 * @param {string} text of docs/invariants.md
 * @returns {Invariant[]}
 */
export function declaredInvariants(text) {
  const found = [];
  for (const [index, line] of text.split("\n").entries()) {
    const [, number, title] = headingPattern.exec(line) ?? [];
    if (number !== undefined) found.push({ number: Number(number), title, line: index + 1, missing: null });
    const missing = missingPattern.exec(line)?.[1];
    const current = found.at(-1);
    if (missing !== undefined && current !== undefined) current.missing = missing.trim();
  }
  return found;
}

/**
 * @param {Map<string, string>} tests sources of test files by path
 * @returns {Proof[]} in order of number and file
 */
export function proofsIn(tests) {
  const proofs = [...tests].flatMap(([file, source]) =>
    testTitles(source).flatMap(({ title, full }) =>
      [...title.matchAll(/\[INV-(\d+)\]/g)].map(([, number]) => ({ number: Number(number), file, title: full })),
    ),
  );
  return proofs.sort((a, b) => a.number - b.number || a.file.localeCompare(b.file));
}

/**
 * @param {readonly Invariant[]} declared
 * @param {readonly Proof[]} proofs
 * @returns {string[]}
 */
export function invariantFindings(declared, proofs) {
  const known = new Set(declared.map(({ number }) => number));
  const proved = new Set(proofs.map(({ number }) => number));
  const unknown = proofs
    .filter(({ number }) => !known.has(number))
    .map(
      ({ number, file, title }) => `${file}: "${title}" names INV-${number}, which docs/invariants.md does not have`,
    );
  const wrong = declared.flatMap((invariant, index) => {
    const place = `docs/invariants.md:${invariant.line}: INV-${invariant.number}`;
    if (invariant.number !== index + 1)
      return [`${place} is in the place of INV-${index + 1}: invariants are numbered without a gap`];
    if (invariant.missing === "") return [`${place} must say which part of the product is missing`];
    if (invariant.missing !== null && proved.has(invariant.number)) {
      return [`${place} is marked as not yet provable, and a test proves it: remove the mark`];
    }
    if (invariant.missing === null && !proved.has(invariant.number)) {
      return [`${place} is named by no test title; add [INV-${invariant.number}] to the one that proves it`];
    }
    return [];
  });
  return [...unknown, ...wrong];
}
