// Writes docs/reference/openapi.json from the built contract. With --check, fails if the committed file is not current.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "../../packages/contract/dist/index.js";

const target = fileURLToPath(new URL("../../docs/reference/openapi.json", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const text = `${JSON.stringify(openApiDocument(version), null, 2)}\n`;

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("docs/reference/openapi.json does not match the contract. Run node scripts/generate/openapi.mjs");
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, text);
  console.log(`wrote ${text.length} characters to docs/reference/openapi.json`);
}
