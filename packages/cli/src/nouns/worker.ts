import type { Worker } from "@carillon/contract";
import { type Commands, flagOption } from "../command.js";
import { type Column, fieldColumns, fieldsOf, outputForm, renderFields, renderJson, renderTable } from "../output.js";
import { changeCommand, listCommand, type Resource, serverCommand } from "../verbs.js";
import { runColumns } from "./run.js";

const maxRuns = 20;
const maxNamed = 8;

const columns: readonly Column<Worker>[] = [
  ...fieldColumns("id", "name"),
  { title: "STATE", value: stateOf },
  { title: "QUEUES", value: ({ queues }) => queues.join(",") },
  { title: "SLOTS", value: ({ slots }) => String(slots), align: "right" },
  { title: "HEARTBEAT", value: ({ heartbeat_at: at }) => at },
  { title: "TASKS", value: ({ tasks }) => shortened(tasks) },
];

function stateOf({ state, in_process: inProcess }: Worker): string {
  return inProcess ? `${state} (in a node)` : state;
}

function shortened(tasks: readonly string[]): string {
  const more = tasks.length > maxNamed ? `,… ${tasks.length - maxNamed} more` : "";
  return `${tasks.slice(0, maxNamed).join(",")}${more}`;
}

function pairs(record: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(record).map(([key, value]) => `${key}=${String(value)}`);
  return texts.length === 0 ? "-" : texts.join(" ");
}

const worker: Resource<Worker> = {
  argument: "<worker>",
  argumentHelp: "its id, as in wrk_…",
  get: (client, id) => client.workers.get(id),
  render: (one) =>
    renderFields([
      ...fieldsOf(one, "id", "name"),
      ["state", stateOf(one)],
      ["queues", one.queues.join(", ")],
      ["tasks", one.tasks.join(", ")],
      ["slots", String(one.slots)],
      ["labels", pairs(one.labels)],
      ["versions", pairs(one.versions)],
      ["weights", pairs(one.weights)],
      ["spot", one.spot ? "yes" : "no"],
      ["started", one.started_at],
      ["heartbeat", one.heartbeat_at],
    ]),
};

export const workerCommands: Commands = {
  start: {
    summary: "run the tasks of a module for a server",
    // It reads the settings of a node, and so loads the server.
    load: async () => (await import("./worker-start.js")).workerStart,
  },
  list: listCommand({
    summary: "list workers, newest first",
    rows: "workers",
    columns,
    page: ({ client }, query) => client.workers.list(query),
    examples: ["carillon worker list"],
  }),
  get: serverCommand(worker, {
    summary: "show one worker and its newest runs",
    examples: ["carillon worker get wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    async run({ io, invocation, client, name }) {
      const [one, { runs }] = await Promise.all([
        client.workers.get(name),
        client.workers.runs(name, { page_size: maxRuns }),
      ]);
      const form = outputForm(invocation);
      if (form !== "table") return io.out(renderJson({ ...one, runs }, form));
      await io.out(worker.render(one));
      if (runs.length > 0) await io.out(`\n${renderTable(runColumns, runs)}`);
    },
  }),
  cordon: changeCommand(worker, {
    summary: "give a worker no more runs",
    notes: "The worker may end the runs that it has.",
    examples: ["carillon worker cordon wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    change: async ({ client, name }) => ({
      thing: await client.workers.cordon(name),
      done: "cordoned",
      undo: `worker uncordon ${name}`,
    }),
  }),
  uncordon: changeCommand(worker, {
    summary: "give a worker runs again",
    notes: "A worker that drains goes on draining.",
    examples: ["carillon worker uncordon wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    change: async ({ client, name }) => ({
      thing: await client.workers.uncordon(name),
      done: "uncordoned",
      undo: `worker cordon ${name}`,
    }),
  }),
  drain: changeCommand(worker, {
    summary: "let a worker end its runs and stop",
    define: (target) =>
      target.option(
        "--notice",
        "its machine is about to stop: handlers are signalled immediately, and runs that do not end soon are given back",
      ),
    notes: `
The worker gets no more runs, ends those that it has within its grace time or gives them back, and stops. A worker inside a node only gets
no more runs.`,
    examples: [
      "carillon worker drain wrk_01k9zq3v5e0r8t2b7n4m6x1c9d",
      "carillon worker drain wrk_01k9zq3v5e0r8t2b7n4m6x1c9d --notice",
    ],
    change: async ({ client, invocation, name }) => ({
      thing: await client.workers.drain(name, flagOption(invocation, "notice") ? { notice: true } : {}),
      done: "draining",
      undo: null,
      instead: "start another with carillon worker start",
    }),
  }),
};
