// Generates docs/reference/metrics.md from the declaration in packages/server.
import { metricAreas } from "../../packages/server/dist/metrics/catalogue.js";
import { publish } from "./publish.mjs";

function page() {
  return [
    "<!-- Made by scripts/generate/metrics.mjs from the declaration in packages/server. Do not edit. -->",
    "# Metrics",
    "",
    "A node serves these metrics at `GET /metrics` in Prometheus' text format, besides the usual metrics of Node.js (`nodejs_…`,",
    "`process_…`). Each node reports its own share: the sum over the nodes is the value of the cluster, except for metrics that describe one",
    "node. Scraping, alerts and dashboards: [the guide](../guides/observability.md).",
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

publish(import.meta.url, "docs/reference/metrics.md", page());
