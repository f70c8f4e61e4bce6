// Generates docs/reference/api-surface.txt, the parts of the API that callers rely on, from the built contract. A change that would break
// callers is refused; --break writes it anyway, for a release that breaks them on purpose. With --check it compares the committed file.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "../../packages/contract/dist/index.js";
import { apiSurface, breachesOf } from "./surface.mjs";

const target = fileURLToPath(new URL("../../docs/reference/api-surface.txt", import.meta.url));
const lines = apiSurface(openApiDocument("0"));
const promised = existsSync(target) ? readFileSync(target, "utf8").trimEnd().split("\n") : [];
const breaches = breachesOf(promised, lines);
for (const breach of breaches) console.error(breach);

if (process.argv.includes("--check")) {
  if (promised.join("\n") !== lines.join("\n")) {
    console.error("docs/reference/api-surface.txt differs from the contract");
    process.exitCode = 1;
  }
} else if (breaches.length > 0 && !process.argv.includes("--break")) {
  console.error("This would break callers. If that is intended: node scripts/generate/api-surface.mjs --break");
  process.exitCode = 1;
} else {
  writeFileSync(target, `${lines.join("\n")}\n`);
  console.log(`wrote ${lines.length} lines to docs/reference/api-surface.txt`);
}
