#!/usr/bin/env node
// Checked in, so that npm can link it before anything is built. In a checkout it builds what is stale first.
import { existsSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const build = fileURLToPath(new URL("../../../scripts/build.mjs", import.meta.url));
const isCheckout = existsSync(build) && existsSync(new URL("../src", import.meta.url));
if (isCheckout && process.env.CARILLON_SKIP_BUILD !== "1") {
  const built = spawnSync(process.execPath, [build], { stdio: ["ignore", 2, 2] });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
const { main } = await import("../dist/cli/main.js");
await main(process.argv.slice(2));
