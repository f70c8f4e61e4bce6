import type { Client } from "@carillon/client";
import { type Job, type JobCreate, plainDefinition } from "@carillon/contract";
import { type LabelCondition, parseLabelSelector } from "@carillon/core";
import { Option } from "commander";
import { clientOf } from "../client.js";
import { withServerAddress } from "../server-address.js";
import { type CommandBody, flagOption, type Invocation, numberOption, textOption } from "../command.js";
import { ExitCode, usageError } from "../exit-codes.js";
import { defaultLimit, listFilter, withListLimit, withListOrder, withRunFilter } from "../flags.js";
import type { Io } from "../io.js";
import { jobName } from "../job-flags.js";
import { loadYaml, renderYaml, withOutputForm } from "../output.js";
import { applyJobs } from "./apply-jobs.js";
import { type DesiredJob, desiredJobs, readJobFiles } from "./read-jobs.js";

const maxPageSize = 1_000;

/** `carillon job apply` */
export const applyFiles: CommandBody = {
  define: (target) =>
    withServerAddress(withOutputForm(target))
      .requiredOption("-f, --file <path...>", "YAML or JSON; a folder means the files in it; - reads standard input")
      .option("--dry-run", `only print what would change; exit code ${ExitCode.wouldChange} if anything would`)
      .option("--prune", "cancel jobs that match --selector and are in no file")
      .option("-l, --selector <labels>", "with --prune: which jobs the files declare completely, as in app=billing"),
  notes: `
A document is a job as the API takes it, a list of jobs, or {jobs: […]}; each has a key, which identifies it. A job that is already as
the file says is left unchanged. Each job is changed only if no other client changed it meanwhile; a refused job does not stop the others.

--prune cancels for good. Its selector is the scope: every job of the files must have those labels, and jobs without a key are never
touched. Runs that have started go on.`,
  examples: [
    "carillon job apply -f jobs.yaml --dry-run",
    "carillon job apply -f jobs/ --prune --selector app=billing",
    "carillon job export @nightly-report | carillon job apply -f - --url http://other.example:8023",
  ],
  async run(io, invocation) {
    const pruneSelector = pruneScope(invocation);
    const files = invocation.options["file"] as readonly string[];
    const desired = desiredJobs(await readJobFiles(io, files), io.now());
    if (pruneSelector !== null) refuseOutside(desired, pruneSelector);
    return applyJobs(io, invocation, { client: await clientOf(io, invocation), desired, pruneSelector });
  },
};

/** Without a scope a prune would cancel jobs of other people. */
function pruneScope(invocation: Invocation): string | null {
  const selector = textOption(invocation, "selector");
  const isPrune = flagOption(invocation, "prune");
  if (isPrune && selector === undefined)
    throw usageError("The flag --prune needs --selector: which jobs do these files declare completely?");
  if (!isPrune && selector !== undefined) throw usageError("The flag --selector needs --prune.");
  return selector ?? null;
}

/** A job outside the scope would be created by one file and pruned by none. */
function refuseOutside(desired: readonly DesiredJob[], selector: string): void {
  const conditions = parseLabelSelector(selector);
  const outside = desired.filter(({ plain }) => !conditions.every((one) => holds(one, plain.labels ?? {})));
  if (outside.length === 0) return;
  const which = outside.map(({ place, key }) => `\n  - ${place}: ${key}`).join("");
  throw usageError(`Nothing was changed. These jobs do not match --selector ${selector}:${which}`);
}

function holds({ key, isIn, among }: LabelCondition, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isAmong = value !== undefined && (among === undefined || among.includes(value));
  return isIn === isAmong;
}

/** `carillon job export`. It prints documents, not a table. */
export const exportJobs: CommandBody = {
  define: (target) =>
    withServerAddress(
      withListOrder(
        withRunFilter(
          withListLimit(target.argument("[job...]", "keys or ids; without them, all that match the flags")),
        ),
      ),
    )
      .addOption(new Option("-o, --output <form>", "how to print").choices(["yaml", "json", "jsonl"]).default("yaml"))
      .option("--json", "the same as -o json"),
  notes: `
Prints definitions without default values, as carillon job apply -f takes them. Jobs without a key, and jobs that do not fire again, are
left out unless they are named.`,
  examples: [
    "carillon job export > jobs.yaml",
    "carillon job export -l app=billing -n 1000",
    "carillon job export @nightly-report --json",
  ],
  async run(io, invocation) {
    const client = await clientOf(io, invocation);
    const names = namesOf(io, invocation);
    const { jobs, left } = names.length > 0 ? await readNamed(client, names) : await readListed(io, client, invocation);
    const definitions = jobs.map(plainDefinition);
    await loadYaml();
    if (definitions.length > 0) await io.out(rendered(definitions, invocation));
    const withoutKey = definitions.filter(({ key }) => key === undefined).length;
    if (withoutKey > 0) io.info(`carillon: ${withoutKey} without a key: add one before the file is applied`);
    if (left > 0) io.info(`carillon: ${left} left out: they have no key, or do not fire again`);
    if (definitions.length === 0) io.info("carillon: no jobs");
  },
};

function namesOf(io: Io, invocation: Invocation): readonly string[] {
  const names = invocation.args.flatMap((name) => (name === undefined ? [] : [jobName(name)]));
  if (names.length > 0 && Object.keys(listFilter(io, invocation)).length > 0)
    throw usageError("Name jobs or choose them by flags, not both.");
  return names;
}

interface Exported {
  readonly jobs: readonly Job[];
  /** How many jobs were left out. */
  readonly left: number;
}

async function readNamed(client: Client, names: readonly string[]): Promise<Exported> {
  const jobs: Job[] = [];
  for (const name of names) jobs.push(await client.jobs.get(name));
  return { jobs, left: 0 };
}

async function readListed(io: Io, client: Client, invocation: Invocation): Promise<Exported> {
  const limit = numberOption(invocation, "limit") ?? defaultLimit;
  const jobs: Job[] = [];
  let left = 0;
  let token: string | null = null;
  do {
    const page: Awaited<ReturnType<Client["jobs"]["list"]>> = await client.jobs.list({
      ...listFilter(io, invocation),
      page_size: Math.min(maxPageSize, limit - jobs.length),
      ...(token !== null && { page_token: token }),
    });
    const lasting = page.jobs.filter(({ key, state }) => key !== null && (state === "active" || state === "paused"));
    left += page.jobs.length - lasting.length;
    jobs.push(...lasting);
    token = page.next_page_token;
  } while (token !== null && jobs.length < limit);
  return { jobs, left };
}

/** Documents one after the other, so that files can be concatenated. */
function rendered(definitions: readonly Partial<JobCreate>[], { options }: Invocation): string {
  if (options["json"] === true || options["output"] === "json") return `${JSON.stringify(definitions, null, 2)}\n`;
  if (options["output"] === "jsonl") return definitions.map((one) => `${JSON.stringify(one)}\n`).join("");
  return definitions.map((one) => renderYaml(one)).join("---\n");
}
