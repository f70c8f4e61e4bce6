import type { BulkOperation } from "@carillon/contract";
import { type Commands, flagOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { type Column, countColumns, fieldColumns, fieldsOf, printThing, renderFields } from "../output.js";
import { changeCommand, listCommand, type Resource, serverCommand } from "../verbs.js";
import { exitCodeOfOperation, operationState, watchOperation } from "../progress-line.js";

const columns: readonly Column<BulkOperation>[] = [
  ...fieldColumns("id", "action"),
  { title: "STATE", value: operationState },
  { title: "SEEN", value: ({ seen, total }) => (total === null ? String(seen) : `${seen}/${total}`), align: "right" },
  ...countColumns("done", "failed", "skipped"),
  { title: "CREATED", value: (one) => one.created_at },
];

export const operation: Resource<BulkOperation> = {
  argument: "<operation>",
  argumentHelp: "its id, as in op_…",
  get: (client, id) => client.operations.get(id),
  render: (one) =>
    renderFields([
      ...fieldsOf(one, "id", "action"),
      ["state", operationState(one)],
      ["seen", one.total === null ? String(one.seen) : `${one.seen} of ${one.total}`],
      ...fieldsOf(one, "done", "failed", "skipped"),
      ...one.failures.map(({ id, detail }) => ["failure", `${id}: ${detail}`] as const),
      ["created", one.created_at],
      ["finished", one.finished_at],
    ]),
};

export const operationCommands: Commands = {
  list: listCommand({
    summary: "list bulk operations, newest first",
    rows: "operations",
    columns,
    page: ({ client }, query) => client.operations.list(query),
    examples: ["carillon operation list"],
  }),
  get: serverCommand(operation, {
    summary: "show the progress of an operation",
    define: (target) =>
      target.option(
        "--watch",
        "stay until it has ended, and show its progress; exit code 1 if some failed, 7 if aborted",
      ),
    examples: ["carillon operation get op_01k9zq3v5e0r8t2b7n4m6x1c9d --watch"],
    async run({ io, invocation, client, name }) {
      const one = await client.operations.get(name);
      const isWatched = flagOption(invocation, "watch");
      const latest = isWatched ? await watchOperation(io, client, one) : one;
      await printThing(io, invocation, latest, operation.render);
      return isWatched ? exitCodeOfOperation(latest) : ExitCode.ok;
    },
  }),
  abort: changeCommand(operation, {
    summary: "stop an operation",
    notes: "The runs that it has changed stay changed.",
    examples: ["carillon operation abort op_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    async change({ client, name }) {
      const thing = await client.operations.abort(name);
      if (thing.state === "done") return { thing, unchanged: "it is done" };
      return { thing, done: "aborted", undo: null, instead: `start it again: carillon run bulk ${thing.action} …` };
    },
  }),
};
