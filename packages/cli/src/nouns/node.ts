import type { Cluster } from "@carillon/contract";
import type { Commands } from "../command.js";
import { type Column, fieldColumns, outputForm, printThing, renderTable } from "../output.js";
import { serverCommand } from "../verbs.js";

const columns: readonly Column<Cluster["nodes"][number]>[] = [
  ...fieldColumns("id", "name", "version"),
  { title: "SHARDS", value: ({ shards }) => String(shards), align: "right" },
  { title: "TAKES MORE", value: (node) => (node.takes_shards ? "yes" : "no") },
  { title: "SILENT", value: (node) => `${node.silent_ms} ms`, align: "right" },
  { title: "CLOCK OFF BY", value: (node) => `${node.skew_ms} ms`, align: "right" },
  { title: "STARTED", value: (node) => node.started_at },
];

export const nodeCommands: Commands = {
  list: serverCommand(null, {
    summary: "list nodes, the oldest first",
    notes: `
Each node fires the schedules in its shards. A node whose clock is off, or that leaves, takes no more of them; another node takes a shard
without an owner within seconds.`,
    examples: ["carillon node list"],
    async run({ io, invocation, client }) {
      const cluster = await client.cluster();
      const { total, owned } = cluster.shards;
      await printThing(io, invocation, cluster, ({ nodes }) => renderTable(columns, nodes));
      const { held_back_by: older, supported } = cluster.level;
      if (older.length > 0 && outputForm(invocation) === "table")
        io.info(
          `carillon: features of level ${supported} stay unused until these nodes run the newer version: ${older.join(", ")}`,
        );
      if (owned < total && outputForm(invocation) === "table")
        io.info(`carillon: ${total - owned} of ${total} shards have no owner: jobs in them do not fire`);
    },
  }),
};
