// Checks the documents: invariants against test titles, links and anchors, the code map, the files named, the commands shown to readers. Prints each
// finding; exit code 1 if any.
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { declaredInvariants, invariantFindings, proofsIn } from "./docs/invariants.mjs";
import { linksOf } from "./docs/markdown.mjs";
import {
  brokenLinks,
  codeMapFindings,
  commandFindings,
  commandsOf,
  mappedPaths,
  missingFiles,
  subcommandsOf,
  tiersOf,
} from "./docs/references.mjs";
import { filesIn, textsOf } from "./repository.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const exists = (path) => existsSync(join(root, path));

function checkInvariants() {
  const declared = declaredInvariants(read("docs/invariants.md"));
  const proofs = proofsIn(textsOf(root, filesIn(root, /\.test\.ts$/)));
  return {
    what: `${declared.length} invariants, ${proofs.length} test titles that name one`,
    findings: invariantFindings(declared, proofs),
  };
}

function checkLinks() {
  const documents = textsOf(root, filesIn(root, /\.md$/));
  const count = [...documents.values()].reduce((sum, text) => sum + linksOf(text).length, 0);
  return { what: `${count} links in ${documents.size} documents`, findings: brokenLinks(documents, exists) };
}

function checkCodeMap() {
  const mapped = mappedPaths(read("docs/architecture.md"));
  return { what: `${mapped.length} paths in the code map`, findings: codeMapFindings(mapped, sourceFolders(), exists) };
}

/** Every packages/<name>/src/<folder> that holds a file. */
function sourceFolders() {
  const folders = filesIn(root, /./).flatMap((path) => /^packages\/[^/]+\/src\/[^/]+(?=\/)/.exec(path)?.[0] ?? []);
  return [...new Set(folders)];
}

/** READMEs of components name their source files in backticks, mostly by their last part. Guides name files of the reader's too. */
function checkNamedFiles() {
  const paths = filesIn(root, /\.md$/).filter((path) => /^(?:packages|chaos|bench)\/|^docs\/[^/]+$/.test(path));
  const names = new Set(filesIn(root, /\.(?:ts|sql|mjs|js)$/).map((path) => basename(path)));
  const documents = textsOf(root, paths);
  return { what: `files named in ${documents.size} documents`, findings: missingFiles(documents, names) };
}

function checkCommands() {
  const known = {
    scripts: new Set(Object.keys(JSON.parse(read("package.json")).scripts)),
    tiers: tiersOf(read("scripts/test.mjs")),
    subcommands: subcommandsOf(read("docs/reference/cli.md")),
    exists,
  };
  const documents = ["README.md", "CONTRIBUTING.md"];
  const count = documents.reduce((sum, path) => sum + commandsOf(read(path)).length, 0);
  const findings = documents.flatMap((path) => commandFindings(path, read(path), known));
  return { what: `${count} commands in ${documents.join(" and ")}`, findings };
}

const checks = [checkInvariants(), checkLinks(), checkCodeMap(), checkNamedFiles(), checkCommands()];
for (const { findings } of checks) for (const finding of findings) console.error(finding);
for (const { what, findings } of checks) console.log(`docs: ${what}, ${findings.length} wrong`);
process.exitCode = checks.every(({ findings }) => findings.length === 0) ? 0 : 1;
