import type { TaskInfo } from "@carillon/contract";
import { isFinal, present } from "@carillon/core";
import { Option } from "commander";
import { type Commands, flagOption, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { runRequest, withPayload, withRunFlags } from "../job-flags.js";
import { type Column, countColumns, printThing, printWarnings, renderFields } from "../output.js";
import { printNoUndo, printUndo } from "../undo.js";
import { type Call, getCommand, listCommand, type Resource, serverCommand } from "../verbs.js";
import { exitCodeOfRun, waitForRun, waitLimitMs, withWait } from "../wait-for-run.js";
import { run } from "./run.js";

const columns: readonly Column<TaskInfo>[] = [
  { title: "TASK", value: ({ name }) => name },
  ...countColumns("workers", "slots"),
  { title: "QUEUES", value: ({ queues }) => (queues.length === 0 ? null : queues.join(",")) },
  { title: "JOBS", value: (task) => (task.has_jobs ? "yes" : null) },
];

const task: Resource<TaskInfo> = {
  argument: "<task>",
  argumentHelp: "its name",
  get: (client, name) => client.tasks.get(name),
  render: ({ name, workers, slots, queues, has_jobs: hasJobs, expected_ms: expectedMs, defaults }) =>
    renderFields([
      ["name", name],
      ["workers", `${workers}, with ${slots} slots`],
      ["queues", queues.length === 0 ? null : queues.join(",")],
      ["jobs", hasJobs ? "yes" : null],
      ...(expectedMs === null ? [] : [["expected", `${Math.round(expectedMs)} ms`] as const]),
      ...Object.entries(defaults ?? {}).map(([field, value]) => [`default ${field}`, value] as const),
    ]),
};

export const taskCommands: Commands = {
  list: listCommand({
    summary: "list tasks by name",
    rows: "tasks",
    columns,
    page: ({ client }, query) => client.tasks.list(query),
    notes:
      "Tasks that workers serve, that jobs name, or that finished runs had. A run of a task without workers waits for one.",
    examples: ["carillon task list"],
  }),
  get: getCommand(task, {
    summary: "show one task and its defaults",
    notes:
      "The defaults are those that its worker registered: they fill in the fields that requests for runs and jobs leave out.",
    examples: ["carillon task get email.welcome"],
  }),
  run: serverCommand(task, {
    changes: true,
    summary: "create one run of a task",
    define: (target) =>
      withWait(
        withRunFlags(withPayload(target))
          .addOption(new Option("--delay <duration>", "not before this time has passed, as in 10m").conflicts("at"))
          .option("--at <instant>", "not before then, as in 2030-01-01T09:00:00Z"),
      ),
    notes: "Creates one run, without a job.",
    examples: [
      `carillon task run echo --payload '{"hello":"world"}' --wait`,
      "carillon task run email.welcome --payload @user.json --queue email --delay 3d",
    ],
    run: runTask,
  }),
};

async function runTask({ io, invocation, client, name }: Call): Promise<ExitCode> {
  const [delay, at] = [textOption(invocation, "delay"), textOption(invocation, "at")];
  const created = await client.runs.create({
    task: name,
    ...(await runRequest(io, invocation)),
    ...present({ delay, run_at: at }),
  });
  const wait = flagOption(invocation, "wait");
  if (!wait) printWarnings(io, created.warnings);
  const latest = wait ? await waitForRun(io, client, created.id, waitLimitMs(invocation)) : created;
  await printThing(io, invocation, latest, run.render);
  if (!wait) io.info(`carillon: watch it with: carillon run watch ${created.id}`);
  if (isFinal(latest.status)) printNoUndo(io, "it ran");
  else printUndo(io, invocation, "created", `run cancel ${created.id}`);
  return wait ? exitCodeOfRun(latest) : ExitCode.ok;
}
