import { basename, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { plainDefinition } from "@carillon/contract";
import { resolveZone } from "@carillon/core";
import { applyJobs } from "../apply/apply-jobs.js";
import { desiredJobs } from "../apply/read-jobs.js";
import { clientOf } from "../client.js";
import { withServerAddress } from "../server-address.js";
import { type Commands, type CommandSpec, flagOption, type Invocation, requiredArg, textOption } from "../command.js";
import {
  type Crontab,
  type CrontabJob,
  type CrontabJobs,
  crontabJobs,
  crontabLabel,
  parseCrontab,
} from "../crontab.js";
import { ExitCode, usageError } from "../exit-codes.js";
import { readFileText } from "../flags.js";
import type { Io } from "../io.js";
import { type Column, outputForm, renderJson, renderTable, withOutputForm } from "../output.js";

const importCrontab: CommandSpec = {
  summary: "create jobs from the lines of a crontab",
  changes: true,
  define: (target) =>
    withServerAddress(withOutputForm(target.argument("<file>", "a crontab; - reads standard input")))
      .option("--dry-run", "only print the jobs and when they would run next; needs no server")
      .option("--system", "the sixth field is a user, as in /etc/crontab and /etc/cron.d (recognised by their paths)")
      .option("--tz <zone>", "for lines without a CRON_TZ (default: this machine's zone, as cron does)")
      .option("--name <name>", "of the crontab: the start of the keys, and a label (default: the file's name)")
      .option("--queue <name>", "the queue of the jobs' runs")
      .option("--cwd <folder>", "where the commands run (default: HOME of the crontab, else where the worker runs)")
      .option("--skip-refused", "import the rest if lines are refused")
      .option("--prune", "cancel jobs of this crontab that are no longer in it"),
  notes: `
Each line becomes a shell job that behaves as under cron: it starts even if the one before still runs, is not retried, and a missed time is
skipped. Change that afterwards as you like: overlap, retry, misfire. Variables, SHELL, CRON_TZ and % are
supported; @reboot is refused. No mail is sent: carillon run logs prints the output, and carillon webhook reports failures. With --dry-run
-o yaml prints a file for carillon job apply.

The jobs need a worker: carillon worker start --enable-shell. Jobs of a system crontab run only on workers with the label user=<user>.`,
  examples: [
    "crontab -l | carillon import crontab - --dry-run",
    "carillon import crontab /etc/crontab --tz Europe/Paris",
    "carillon import crontab my.cron --dry-run -o yaml > jobs.yaml",
  ],
  run: runImport,
};

export const importCommands: Commands = { crontab: importCrontab };

async function runImport(io: Io, invocation: Invocation): Promise<ExitCode> {
  const path = requiredArg(invocation, 0);
  const isSystem = flagOption(invocation, "system") || /^\/etc\/(crontab$|cron\.d\/)/.test(resolve(io.cwd, path));
  const source = path === "-" ? await text(io.stdin) : await readFileText(resolve(io.cwd, path));
  const crontab = parseCrontab(source, { isSystem });
  const name = nameOf(invocation, path);
  const read = crontabJobs(crontab, {
    name,
    timeZone: zoneOf(io, invocation, crontab),
    queue: textOption(invocation, "queue") ?? null,
    cwd: textOption(invocation, "cwd") ?? null,
    now: io.now(),
  });
  printNotes(io, crontab, isSystem);
  for (const { line, text: found, reason } of read.faults)
    io.info(`carillon: line ${line} is refused: ${reason}\n  ${found}`);
  if (flagOption(invocation, "dryRun")) return dryRun(io, invocation, read);
  if (read.faults.length > 0 && !flagOption(invocation, "skipRefused"))
    throw usageError("Nothing was imported. Repair those lines, or import the rest with --skip-refused.");
  if (read.jobs.length === 0) io.info("carillon: the crontab has no line that runs anything");
  const declared = read.jobs.map(({ line, job }) => ({ place: `line ${line}`, body: job }));
  const desired = desiredJobs(declared, io.now());
  const pruneSelector = flagOption(invocation, "prune") ? `${crontabLabel}=${name}` : null;
  const code = await applyJobs(io, invocation, { client: await clientOf(io, invocation), desired, pruneSelector });
  const users = [...new Set(crontab.entries.flatMap(({ user }) => user ?? []))];
  if (read.jobs.length === 0) return code;
  for (const label of users.length === 0 ? [""] : users.map((user) => ` --label user=${user}`))
    io.info(`carillon: served by: carillon worker start --enable-shell${label}`);
  return code;
}

const columns: readonly Column<CrontabJob>[] = [
  { title: "LINE", value: ({ line }) => line, align: "right" },
  { title: "KEY", value: ({ job }) => job.key },
  { title: "SCHEDULE", value: ({ description }) => description },
  { title: "NEXT", value: ({ fires }) => fires.map(({ wallTime }) => wallTime.slice(0, 16)).join(", ") },
];

/** A table for people, or a file for `job apply`. */
async function dryRun(io: Io, invocation: Invocation, { jobs, faults }: CrontabJobs): Promise<ExitCode> {
  const form = outputForm(invocation);
  const definitions = jobs.map(({ job }) => plainDefinition(job));
  if (form === "table") await io.out(jobs.length === 0 ? "" : renderTable(columns, jobs));
  else if (form === "json") await io.out(renderJson(definitions, form));
  else await io.out(definitions.map((one) => renderJson(one, form)).join(form === "yaml" ? "---\n" : ""));
  io.info(`carillon: ${jobs.length} would be imported, ${faults.length} refused; nothing was changed`);
  return faults.length === 0 ? ExitCode.ok : ExitCode.usage;
}

function printNotes(io: Io, { entries }: Crontab, isSystem: boolean): void {
  const addresses = new Set(entries.map(({ env }) => env["MAILTO"] ?? "").filter((address) => address !== ""));
  for (const address of addresses)
    io.info(
      `carillon: MAILTO=${address}: no mail is sent; carillon run logs prints the output, and carillon webhook create reports failures`,
    );
  const root = isSystem ? undefined : entries.find(({ command: line }) => /^root\s/.test(line));
  if (root !== undefined)
    io.info(`carillon: line ${root.line} begins with root: if that is a user, this is a system crontab: --system`);
}

function nameOf(invocation: Invocation, path: string): string {
  const given = textOption(invocation, "name");
  const name =
    given ??
    basename(path)
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "");
  if (given !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/.test(given))
    throw usageError(`--name: ${JSON.stringify(given)} is not 1 to 60 letters, digits and . _ -.`);
  return name.slice(0, 60) || "crontab";
}

/** Names this machine's zone if a line uses it. */
function zoneOf(io: Io, invocation: Invocation, { entries }: Crontab): string {
  const given = textOption(invocation, "tz");
  if (given !== undefined) return resolveZone(given).name;
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (entries.some(({ env }) => !env["CRON_TZ"]))
    io.info(`carillon: times are in ${zone}, this machine's zone; --tz gives another`);
  return zone;
}
