import type { Client } from "@carillon/client";
import type { Worker } from "@carillon/contract";
import type { CommandModule } from "../command.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { outputForm, withOutputForm } from "../output/form.js";
import { printList } from "../output/list.js";
import type { Column } from "../output/table.js";

interface ServedTask {
  readonly task: string;
  readonly workers: number;
  readonly versions: readonly string[];
  readonly queues: readonly string[];
}

const columns: readonly Column<ServedTask>[] = [
  { title: "TASK", value: ({ task }) => task },
  { title: "WORKERS", value: ({ workers }) => String(workers), align: "right" },
  { title: "VERSIONS", value: ({ versions }) => (versions.length === 0 ? null : versions.join(",")) },
  { title: "QUEUES", value: ({ queues }) => queues.join(",") },
];

const largestPage = 1_000;

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target)).addHelpText(
      "after",
      `
Those that workers have now. A run of another task waits for a worker that has it.

Example:
  $ carillon task list`,
    );
  },
  async run(io, invocation) {
    const rows = servedTasks(await allWorkers(clientOf(io, invocation)));
    const page = async () => ({ rows, next: null });
    await printList(io, { form: outputForm(invocation), limit: rows.length, columns, noun: "tasks", page });
  },
};

async function allWorkers(client: Client): Promise<Worker[]> {
  const found: Worker[] = [];
  let token: string | null = null;
  do {
    const page: Awaited<ReturnType<Client["workers"]["list"]>> = await client.workers.list({
      page_size: largestPage,
      ...(token !== null && { page_token: token }),
    });
    found.push(...page.workers);
    token = page.next_page_token;
  } while (token !== null);
  return found;
}

function servedTasks(workers: readonly Worker[]): ServedTask[] {
  const names = [...new Set(workers.flatMap(({ tasks }) => tasks))].sort();
  return names.map((task) => {
    const serving = workers.filter(({ tasks }) => tasks.includes(task));
    return {
      task,
      workers: serving.length,
      versions: [...new Set(serving.flatMap(({ versions }) => versions[task] ?? []))].sort(),
      queues: [...new Set(serving.flatMap(({ queues }) => queues))].sort(),
    };
  });
}
