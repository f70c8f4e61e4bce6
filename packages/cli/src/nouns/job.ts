import type { Client } from "@carillon/client";
import type { Job, JobPatch, JobVersion, Occurrences, UpcomingFire } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { Option } from "commander";
import { type Commands, flagOption, numberOption, requiredArg, textFields, textOption } from "../command.js";
import { ExitCode, usageError } from "../exit-codes.js";
import { explainJob } from "../explain.js";
import {
  listFilter,
  readJsonArgument,
  wholeNumber,
  withListLimit,
  withListOrder,
  withPauseFlags,
  withRunFilter,
} from "../flags.js";
import { job as subject, jobRequest, withJobChangeFlags, withJobFlags } from "../job-flags.js";
import {
  type Column,
  fieldColumns,
  fieldsOf,
  outputForm,
  printList,
  printThing,
  printWarnings,
  renderFields,
} from "../output.js";
import { hasEnded, pauseFlags, printNoUndo, printUndo, undoOfCancel } from "../undo.js";
import {
  type Call,
  changeCommand,
  getCommand,
  listCommand,
  printPages,
  type Resource,
  serverCommand,
} from "../verbs.js";
import { exitCodeOfRun, waitForJobRun, waitForRun, waitLimitMs, withWait } from "../wait-for-run.js";
import { run, runColumns } from "./run.js";

const defaultFires = 10;
const lastVersion = 2_147_483_647;
/** Which occurrences inside a pause are run when it ends. */
const missedChoices = ["none", "latest", "all"] as const;

const columns: readonly Column<Job>[] = [
  ...fieldColumns("id", "key", "task", "status"),
  { title: "NEXT RUN", value: (one) => one.next_run_at },
  { title: "SCHEDULE", value: ({ description }) => description },
];

const job: Resource<Job> = { ...subject, get: (client, name) => client.jobs.get(name), render: renderJob };

function renderJob(one: Job): string {
  const last = one.run ?? one.last_run;
  const lastText = last && `${last.id} ${last.status}${last.status_reason ? ` (${last.status_reason})` : ""}`;
  return renderFields([
    ...fieldsOf(one, "id", "key", "task", "status"),
    ...(one.pause ? [["paused", pauseText(one.pause)] as const] : []),
    ["schedule", one.description],
    ["next run", one.next_run_at],
    ...fieldsOf(one, "queue", "payload"),
    ["created", one.created_at],
    ["last run", lastText],
    ...(one.run?.waiting_on ? [["waits for", one.run.waiting_on.detail] as const] : []),
    ...(one.run === undefined ? [] : [["output", one.run.output] as const, ["error", one.run.error?.message] as const]),
    ...(one.warnings ?? []).map(({ detail }) => ["warning", detail] as const),
  ]);
}

function pauseText({ at, until, reason }: NonNullable<Job["pause"]>): string {
  return [`since ${at}`, until === null ? "" : ` until ${until}`, reason === null ? "" : `: ${reason}`].join("");
}

const fireColumns: readonly Column<UpcomingFire>[] = [
  { title: "UTC", value: (fire) => fire.scheduled_for },
  { title: "LOCAL", value: (fire) => fire.local_time },
  { title: "OUTCOME", value: ({ outcome }) => outcome },
  { title: "NOTE", value: ({ notes }) => notes.map(({ detail }) => detail).join("; ") },
];

const versionColumns: readonly Column<JobVersion>[] = [
  { title: "VERSION", value: ({ version }) => String(version), align: "right" },
  { title: "FROM", value: (one) => one.valid_from },
  { title: "TO", value: (one) => one.valid_to },
  { title: "TASK", value: ({ definition }) => definition.task },
  { title: "SCHEDULE", value: ({ definition }) => definition.schedule },
];

const missedColumns: readonly Column<Occurrences>[] = [
  ...fieldColumns("reason", "from", "to"),
  { title: "COUNT", value: ({ count }) => String(count), align: "right" },
  { title: "DETAIL", value: ({ detail }) => detail },
];

export const jobCommands: Commands = {
  create: serverCommand(null, {
    changes: true,
    summary: "create a job",
    define: (target) => withWait(withJobFlags(target)),
    notes: "Without --cron, --every, --at or --delay the job runs once, immediately.",
    examples: [
      `carillon job create --task echo --payload '{"hello":"world"}' --wait`,
      "carillon job create --task http --payload @request.json --cron '0 9 * * MON' --tz Europe/Paris --key weekly",
      `echo '{"ms":500}' | carillon job create --task sleep --payload - --delay 10s`,
    ],
    run: createJob,
  }),
  get: getCommand(job, {
    summary: "show one job",
    examples: ["carillon job get @nightly-report", "carillon job get job_01k9zq3v5e0r8t2b7n4m6x1c9d --json"],
  }),
  list: listCommand({
    summary: "list jobs, newest first",
    rows: "jobs",
    columns,
    define: (target) => withListOrder(withRunFilter(target)),
    examples: ["carillon job list --status failed", "carillon job list --task echo -o jsonl --limit 10000"],
    filter: ({ io, invocation }) => listFilter(io, invocation),
    page: ({ client }, query) => client.jobs.list(query),
  }),
  apply: {
    summary: "create and change jobs as files declare them",
    changes: true,
    load: async () => (await import("../apply/job-files.js")).applyFiles,
  },
  export: {
    summary: "print definitions, for job apply",
    load: async () => (await import("../apply/job-files.js")).exportJobs,
  },
  next: serverCommand(job, {
    summary: "show when a job fires next",
    define: (target) => target.option("-n, --count <number>", "how many", wholeNumber(1, 1_000), defaultFires),
    examples: ["carillon job next @nightly-report -n 3"],
    async run({ io, invocation, client, name }) {
      const limit = numberOption(invocation, "count") ?? defaultFires;
      const { fires } = await client.jobs.upcoming(name, { count: limit });
      const page = async () => ({ rows: fires, next: null });
      const form = outputForm(invocation);
      await printList(io, { form, limit, columns: fireColumns, noun: "upcoming fires", page });
    },
  }),
  history: serverCommand(job, {
    summary: "list the runs of a job, its versions, what it missed",
    define: (target) =>
      withListLimit(target)
        .option("--status <list>", "only runs with these statuses, or groups such as finished")
        .addOption(
          new Option("--versions", "its definitions, and when each was in force").conflicts(["status", "missed"]),
        )
        .addOption(new Option("--missed", "occurrences that have no run, and why").conflicts("status")),
    examples: [
      "carillon job history @nightly-report --status failed",
      "carillon job history @nightly-report --versions",
      "carillon job history @nightly-report --missed",
    ],
    run: printHistory,
  }),
  explain: serverCommand(job, {
    summary: "explain whether a job fires, when, and if not, why",
    examples: ["carillon job explain @nightly-report"],
    run: ({ io, invocation, client, name }) => explainJob(io, invocation, client, name),
  }),
  forecast: serverCommand(null, {
    summary: "show what the schedules will fire in the next hours",
    define: (target) => target.option("--hours <number>", "how many hours ahead", wholeNumber(1, 24), 1),
    examples: ["carillon job forecast --hours 6"],
    async run({ io, invocation, client }) {
      const hours = numberOption(invocation, "hours") ?? 1;
      await printThing(io, invocation, await client.jobs.forecast({ hours }), renderForecast);
    },
  }),
  update: changeCommand(job, {
    summary: "change parts of a job",
    define: (target) =>
      withJobChangeFlags(
        target.argument(
          "[patch]",
          "what changes, as JSON, in place of flags; null removes; @file reads a file, - standard input",
        ),
      ).option("--if-version <number>", "only if the job still has this version", wholeNumber(1, lastVersion)),
    notes: "Fields that are not given stay as they are. Flags cover the common fields, JSON all of them.",
    examples: [
      "carillon job update @nightly-report --cron '0 3 * * *' --tz Europe/Paris",
      `carillon job update @nightly-report '{"schedule":{"cron":"0 3 * * *"}}'`,
      `carillon job update @nightly-report '{"overlap":"queue_one","timeout":null}' --if-version 7`,
    ],
    async change(call) {
      const { client, invocation, name } = call;
      const patch = await patchOf(call);
      const ifVersion = numberOption(invocation, "ifVersion");
      const before = ifVersion ?? (await client.jobs.get(name)).version;
      const thing = await client.jobs.update(name, patch, ifVersion === undefined ? {} : { ifVersion });
      if (thing.version === before) return { thing, unchanged: `it still is version ${before}` };
      return { thing, done: `version ${thing.version}`, undo: `job rollback ${name} ${before}` };
    },
  }),
  rollback: changeCommand(job, {
    summary: "restore an earlier definition",
    define: (target) => target.argument("<version>", "the version whose definition the job gets"),
    notes: "The definition of that version becomes a new version. Versions: carillon job history --versions.",
    examples: ["carillon job rollback @nightly-report 3"],
    async change({ client, invocation, name }) {
      const text = requiredArg(invocation, 1);
      if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`${JSON.stringify(text)} is not a version.`);
      const { version } = await client.jobs.get(name);
      const thing = await client.jobs.rollback(name, Number(text), { ifVersion: version });
      const done = `version ${thing.version} has the definition of version ${text}`;
      return { thing, done, undo: `job rollback ${name} ${version}` };
    },
  }),
  pause: changeCommand(job, {
    summary: "stop a job's fires for now",
    define: (target) =>
      withPauseFlags(target).addOption(
        new Option("--missed <which>", "which occurrences inside the pause a resume runs by default").choices(
          missedChoices,
        ),
      ),
    examples: ["carillon job pause @nightly-report --for 2h --reason 'the database moves'"],
    async change({ io, client, invocation, name }) {
      const missed = missedChoices.find((choice) => choice === invocation.options["missed"]);
      const { pause: before } = await client.jobs.get(name);
      const thing = await client.jobs.pause(name, {
        ...textFields(invocation, ["reason", "for", "until"]),
        ...(missed !== undefined && { missed }),
      });
      if (!before) return { thing, done: "paused", undo: `job resume ${name}` };
      return { thing, done: "it was paused already", undo: `job pause ${name}${pauseFlags(before, io.now())}` };
    },
  }),
  resume: serverCommand(job, {
    changes: true,
    summary: "let a paused job fire again",
    define: (target) =>
      target
        .addOption(
          new Option("--missed <which>", "which of the occurrences inside the pause are run").choices(missedChoices),
        )
        .option("--dry-run", "only print how many there are"),
    examples: ["carillon job resume @nightly-report --dry-run", "carillon job resume @nightly-report --missed latest"],
    run: resumeJob,
  }),
  run: serverCommand(job, {
    changes: true,
    summary: "run a job now",
    define: (target) =>
      withWait(target)
        .option("--payload <json>", "instead of the job's; @file reads a file, - standard input")
        .option("--force", "also while another run of the job is live"),
    notes: "The schedule stays as it is.",
    examples: [`carillon job run @nightly-report --payload '{"day":"2030-01-01"}'`],
    run: runJob,
  }),
  backfill: {
    summary: "run a job for times of the past",
    changes: true,
    load: async () => (await import("./backfill.js")).jobBackfill,
  },
  cancel: changeCommand(job, {
    summary: "end a job for good",
    define: (target) =>
      target.option("--keep-running", "let runs that have started go on; without it their workers are asked to stop"),
    notes: `
The job does not fire again, and its key is free; its history stays. To stop a job for a while: carillon job pause.`,
    examples: ["carillon job cancel @nightly-report --keep-running"],
    async change({ client, invocation, name }) {
      const running = flagOption(invocation, "keepRunning") ? "keep" : "signal";
      const before = await client.jobs.get(name);
      const thing = await client.jobs.cancel(name, { running });
      if (hasEnded(before)) return { thing, unchanged: `it was ${before.state} before` };
      return { thing, done: "it does not fire again", undo: undoOfCancel(thing) };
    },
  }),
};

async function createJob({ io, invocation, client }: Call): Promise<ExitCode> {
  const wait = flagOption(invocation, "wait");
  if (wait && (invocation.options["cron"] !== undefined || invocation.options["every"] !== undefined))
    throw usageError("The flag --wait is for jobs that run once. Leave it out, or leave out --cron and --every.");
  const created = await client.jobs.create(await jobRequest(io, invocation));
  const latest = wait ? await waitForJobRun(io, client, created.id, waitLimitMs(invocation)) : created;
  // The table has them as fields.
  if (outputForm(invocation) !== "table") printWarnings(io, latest.warnings);
  await printThing(io, invocation, latest, renderJob);
  if (latest.run !== undefined && isFinal(latest.run.status)) printNoUndo(io, "it ran");
  else printUndo(io, invocation, "created", `job cancel ${latest.key === null ? latest.id : `@${latest.key}`}`);
  return wait && latest.run !== undefined ? exitCodeOfRun(latest.run) : ExitCode.ok;
}

/** Pages of one kind of history. */
function printHistory(call: Call): Promise<void> {
  const { client, invocation, name } = call;
  const { jobs } = client;
  if (flagOption(invocation, "versions"))
    return printPages(call, {
      rows: "versions",
      columns: versionColumns,
      page: (_, query) => jobs.versions(name, query),
    });
  if (flagOption(invocation, "missed"))
    return printPages(call, {
      rows: "occurrences",
      noun: "missed occurrences",
      columns: missedColumns,
      page: (_, query) => jobs.occurrences(name, query),
    });
  return printPages(call, {
    rows: "runs",
    columns: runColumns,
    filter: () => textFields(invocation, ["status"]),
    page: (_, query) => jobs.runs(name, query),
  });
}

/** For people: totals, the busiest seconds, and what would spread them. JSON has every minute. */
function renderForecast(forecast: Awaited<ReturnType<Client["jobs"]["forecast"]>>): string {
  const { from, until, exact, jobs, fires, busiest, crowded, proposals } = forecast;
  return renderFields([
    ["from", from],
    ["until", until],
    ["jobs", exact ? String(jobs) : `about ${jobs}, from ${forecast.sampled_jobs} of them`],
    ["fires", String(fires)],
    ["most in a minute", String(Math.max(0, ...forecast.per_minute))],
    ["busiest second", busiest === null ? null : `${busiest.at}: ${busiest.fires}`],
    ...crowded.map((one): [string, string] => ["crowded", `${one.at}: ${one.fires} fires`]),
    ...proposals.map((one): [string, string] => [
      "proposal",
      `jitter ${one.jitter} for ${one.jobs} jobs (${one.description}): ${one.peak_before} → ${one.peak_after} in a second, such as ${one.examples.map(({ key, job_id: id }) => key ?? id).join(", ")}`,
    ]),
  ]);
}

async function patchOf({ io, invocation }: Call): Promise<JobPatch> {
  const fromFlags = (await jobRequest(io, invocation)) as JobPatch;
  const hasFlags = Object.keys(fromFlags).length > 0;
  const [, given] = invocation.args;
  if (given === undefined && !hasFlags)
    throw usageError(`Give what changes: flags such as --cron, or JSON such as '{"priority":7}'.`);
  if (given === undefined) return fromFlags;
  if (hasFlags) throw usageError("Give what changes by flags or as JSON, not both.");
  // The server checks the patch.
  return (await readJsonArgument(io, given, "<patch>")) as JobPatch;
}

async function resumeJob({ io, invocation, client, name }: Call): Promise<void> {
  const missed = missedChoices.find((choice) => choice === invocation.options["missed"]);
  const isDryRun = flagOption(invocation, "dryRun");
  const before = isDryRun ? null : await client.jobs.get(name);
  const resumed = await client.jobs.resume(name, {
    ...(missed !== undefined && { missed }),
    ...(isDryRun && { dry_run: true }),
  });
  await printThing(io, invocation, resumed, (one) => renderJob(one.job));
  const count = `${resumed.missed} occurrence${resumed.missed === 1 ? "" : "s"} inside the pause`;
  if (isDryRun) io.info(`carillon: ${count}; nothing was changed`);
  else if (before?.state !== "paused") io.info("carillon: nothing changed: it was not paused");
  else printUndo(io, invocation, `resumed; ${count}`, `job pause ${name}${pauseFlags(before.pause, io.now())}`);
}

async function runJob({ io, invocation, client, name }: Call): Promise<ExitCode> {
  const payload = textOption(invocation, "payload");
  const created = await client.jobs.runNow(name, {
    ...(payload !== undefined && { payload: await readJsonArgument(io, payload, "--payload") }),
    ...(flagOption(invocation, "force") && { force: true }),
  });
  const wait = flagOption(invocation, "wait");
  if (!wait) printWarnings(io, created.warnings);
  const latest = wait ? await waitForRun(io, client, created.id, waitLimitMs(invocation)) : created;
  await printThing(io, invocation, latest, run.render);
  if (isFinal(latest.status)) printNoUndo(io, "it ran");
  else printUndo(io, invocation, "created", `run cancel ${latest.id}`);
  return wait ? exitCodeOfRun(latest) : ExitCode.ok;
}
