import type { Cluster } from "@carillon/contract";
import type { CommandModule } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { type Column, renderTable } from "../table.js";

const columns: readonly Column<Cluster["nodes"][number]>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "VERSION", value: ({ version }) => version },
  { title: "SHARDS", value: ({ shards }) => String(shards), align: "right" },
  { title: "TAKES MORE", value: (node) => (node.takes_shards ? "yes" : "no") },
  { title: "SILENT", value: (node) => `${node.silent_ms} ms`, align: "right" },
  { title: "CLOCK OFF BY", value: (node) => `${node.skew_ms} ms`, align: "right" },
  { title: "STARTED", value: (node) => node.started_at },
];

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target)).addHelpText(
      "after",
      `
Each node looks after the schedules in its shards. A node whose clock is off, or that leaves, takes no more of them; a shard without an
owner is taken by another node within seconds.

Example:
  $ carillon node list`,
    );
  },
  async run(io, invocation) {
    const cluster = await clientOf(io, invocation).cluster();
    const form = outputForm(invocation);
    if (form !== "table") return io.out(renderJson(cluster, form));
    await io.out(renderTable(columns, cluster.nodes));
    const { total, owned } = cluster.shards;
    if (owned < total) io.info(`carillon: ${total - owned} of ${total} shards have no owner: jobs in them do not fire`);
  },
};
