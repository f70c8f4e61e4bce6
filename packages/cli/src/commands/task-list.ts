import type { TaskInfo } from "@carillon/contract";
import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import type { Column } from "../table.js";

const columns: readonly Column<TaskInfo>[] = [
  { title: "TASK", value: ({ name }) => name },
  { title: "WORKERS", value: ({ workers }) => String(workers), align: "right" },
  { title: "SLOTS", value: ({ slots }) => String(slots), align: "right" },
  { title: "QUEUES", value: ({ queues }) => (queues.length === 0 ? null : queues.join(",")) },
  { title: "JOBS", value: (task) => (task.has_jobs ? "yes" : null) },
];

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Those that workers serve, that jobs name, and that finished runs had. A run of a task without workers waits for one.

Example:
  $ carillon task list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns,
      noun: "tasks",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { tasks, next_page_token: next } = await client.tasks.list(query);
        return { rows: tasks, next };
      },
    });
  },
};
