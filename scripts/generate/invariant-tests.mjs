// Writes into docs/invariants.md, under each invariant, the tests that prove it. With --check it writes nothing and exits
// with 1 when the file is not as it would be written.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { proofsIn } from "../check/docs/invariants.mjs";
import { filesIn, textsOf } from "../check/docs/repository.mjs";

const blockPattern = /(<!-- tests of INV-(\d+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * The document with every block filled anew.
 * @param {string} text of docs/invariants.md
 * @param {readonly import("../check/docs/invariants.mjs").Proof[]} proofs
 * @returns {string}
 */
export function withProofs(text, proofs) {
  return text.replace(blockPattern, (_, open, number, close) => {
    const own = proofs.filter((proof) => proof.number === Number(number));
    return `${open}${own.map(lineOf).join("")}${close}`;
  });
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
  return `- ${words} ([${name}](../${file}))\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const path = `${root}docs/invariants.md`;
  const before = readFileSync(path, "utf8");
  const after = withProofs(before, proofsIn(textsOf(root, filesIn(root, /\.test\.ts$/))));
  if (before === after) console.log("docs/invariants.md: up to date");
  else if (process.argv.includes("--check")) {
    console.error("docs/invariants.md: the lists of tests are not up to date");
    process.exitCode = 1;
  } else {
    writeFileSync(path, after);
    console.log("docs/invariants.md: written");
  }
}
