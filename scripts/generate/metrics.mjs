// Writes docs/reference/metrics.md from the declaration in packages/server. `--check` compares instead of writing.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { metricAreas } from "../../packages/server/dist/metrics/catalogue.js";

const target = fileURLToPath(new URL("../../docs/reference/metrics.md", import.meta.url));

function page() {
  return [
    "<!-- Made by scripts/generate/metrics.mjs from the declaration in packages/server. Do not edit. -->",
    "# Metrics",
    "",
    "What a node shows at `GET /metrics`, in Prometheus' text format, besides the usual metrics of Node.js (`nodejs_…`,",
    "`process_…`). Each node shows its own part: sums over nodes are the cluster's, except of what one node says of itself.",
    "How to scrape them, which alerts matter and what to draw: [the guide](../guides/observability.md).",
    ...Object.entries(metricAreas).flatMap(([area, metrics]) => ["", `## ${area}`, "", ...table(metrics)]),
    "",
  ].join("\n");
}

function table(metrics) {
  const rows = Object.entries(metrics).map(([name, { type, labels, help, buckets }]) => {
    const bounds = buckets === undefined ? "" : ` (bounds from ${buckets[0]} to ${buckets.at(-1)})`;
    return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help}${bounds} |`;
  });
  return ["| name | type | labels | meaning |", "|---|---|---|---|", ...rows];
}

const text = page();
if (!process.argv.includes("--check")) {
  writeFileSync(target, text);
} else if (readFileSync(target, "utf8") !== text) {
  console.error("docs/reference/metrics.md is not what metrics.mjs makes: run it and commit the page");
  process.exitCode = 1;
}
