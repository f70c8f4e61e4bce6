// Installs the peers beside the benchmark, once; answers the Node that everything runs under.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { say } from "../schedules/results.mjs";

const folder = fileURLToPath(new URL("peers", import.meta.url));

export function preparePeers() {
  const node = `${folder}/node_modules/node24/bin/node`;
  if (!existsSync(node)) {
    say("installing graphile-worker, pg-boss, BullMQ and Node 24 (npm ci in bench/queue/peers)");
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  }
  return node;
}
