// Packs the published packages and checks them: files of the tarballs, imports, publint, and the types under each way of resolving
// modules (attw). Prints the sizes; exit code 1 if there is a finding.
//   npm run pack                       into .tmp/packages
//   npm run pack -- --out ../somewhere
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { parseArgs } from "node:util";
import { contentFindings, filesOfTar, importFindings } from "./pack/contents.mjs";
import { packAll } from "./pack/tarballs.mjs";
import { ensureTools } from "./tool.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const tools = createRequire(`${root}tools/package.json`);
const toolModule = (name) => import(pathToFileURL(tools.resolve(name)).href);

/** The packages are ES modules only (docs/adr/0014): other ways of resolving types are not supported. */
const supportedResolutions = new Set(["node16-esm", "bundler"]);

async function loadCheckers() {
  ensureTools();
  const [{ publint }, { formatMessage }, { checkPackage, createPackageFromTarballData }] = await Promise.all([
    toolModule("publint"),
    toolModule("publint/utils"),
    toolModule("@arethetypeswrong/core"),
  ]);
  return {
    async publint(tarball, manifest) {
      const { messages } = await publint({ pack: { tarball }, level: "suggestion", strict: true });
      return messages.map((message) => `publint: ${formatMessage(message, manifest)}`);
    },
    async types(tarball) {
      const { types, problems = [] } = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
      if (types === false) return ["attw: the package has no types"];
      const kept = problems.filter(
        ({ resolutionKind }) => resolutionKind === undefined || supportedResolutions.has(resolutionKind),
      );
      return kept.map((problem) => `attw: ${JSON.stringify(problem)}`);
    },
  };
}

/** @param {import("./pack/tarballs.mjs").Packed} packed */
async function findingsOf(packed, { publint, types }) {
  const data = readFileSync(packed.path);
  const texts = filesOfTar(gunzipSync(data), /\.(js|d\.ts|json)$/);
  const manifest = JSON.parse(texts.get("package.json"));
  texts.delete("package.json");
  const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const fromTools = [...(await publint(tarball, manifest)), ...(await types(tarball))];
  return [
    ...contentFindings(packed),
    ...importFindings(packed.name, texts, manifest),
    ...fromTools.map((finding) => `${packed.name}: ${finding}`),
  ];
}

const kilobytes = (bytes) => `${(bytes / 1_024).toFixed(0)} kB`.padStart(9);

const { values } = parseArgs({ options: { out: { type: "string", default: `${root}.tmp/packages` } } });
const out = resolve(values.out);
rmSync(out, { recursive: true, force: true });
const all = packAll(out);
const checkers = await loadCheckers();
const findings = (await Promise.all(all.map((packed) => findingsOf(packed, checkers)))).flat();
for (const { name, path, size, unpackedSize, files } of all)
  console.log(
    `${name.padEnd(20)}${kilobytes(size)} packed,${kilobytes(unpackedSize)} unpacked, ${files.length} files: ${path}`,
  );
for (const finding of findings) console.error(finding);
console.log(
  `\n${all.length} packages, ${findings.length} findings\n\nInstall one of them in your project, the first for everything:`,
);
for (const { path } of all) console.log(`  npm install ${path}`);
process.exitCode = findings.length === 0 ? 0 : 1;
