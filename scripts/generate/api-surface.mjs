// Writes docs/reference/api-surface.txt, what callers of the API may rely on, from the built contract. What would break callers is
// refused; --break writes it all the same, for a release that is meant to. With --check, says whether the committed file is current.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiSurface, breachesOf, openApiDocument } from "../../packages/contract/dist/index.js";

const target = fileURLToPath(new URL("../../docs/reference/api-surface.txt", import.meta.url));
const lines = apiSurface(openApiDocument("0"));
const promised = existsSync(target) ? readFileSync(target, "utf8").trimEnd().split("\n") : [];
const breaches = breachesOf(promised, lines);
for (const breach of breaches) console.error(breach);

if (process.argv.includes("--check")) {
  if (promised.join("\n") !== lines.join("\n")) {
    console.error(
      "docs/reference/api-surface.txt is not what the contract says: run node scripts/generate/api-surface.mjs",
    );
    process.exitCode = 1;
  }
} else if (breaches.length > 0 && !process.argv.includes("--break")) {
  console.error("this would break callers; node scripts/generate/api-surface.mjs --break if it is meant to");
  process.exitCode = 1;
} else {
  writeFileSync(target, `${lines.join("\n")}\n`);
  console.log(`wrote ${lines.length} lines to docs/reference/api-surface.txt`);
}
