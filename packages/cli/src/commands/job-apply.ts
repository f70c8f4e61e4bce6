import { type LabelCondition, parseLabelSelector } from "@carillon/core";
import { applyJobs } from "../apply/apply-jobs.js";
import { type DesiredJob, desiredJobs, readJobFiles } from "../apply/read-jobs.js";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, type Invocation, flagOption, textOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { withOutputForm } from "../output.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target))
      .requiredOption(
        "-f, --file <path...>",
        "YAML or JSON; a folder stands for the files in it; - reads standard input",
      )
      .option("--dry-run", `only show what would change; exit code ${ExitCode.wouldChange} if anything would`)
      .option("--prune", "cancel jobs that --selector names and no file has")
      .option("-l, --selector <labels>", "with --prune: whose jobs the files are the whole of, as in app=billing")
      .addHelpText(
        "after",
        `
A document is a job as the API takes it, a list of jobs, or {jobs: […]}; each has a key, by which it is found again. A job that is as
the file says is left alone. Each is changed only if nobody else changed it meanwhile; one that is refused does not stop the others.

--prune cancels for good. Its selector is the scope: every job of the files must have those labels, and jobs without a key are never
touched. Runs that have started go on.

Examples:
  $ carillon job apply -f jobs.yaml --dry-run
  $ carillon job apply -f jobs/ --prune --selector app=billing
  $ carillon job export @nightly-report | carillon job apply -f - --url http://other.example:8023`,
      );
  },
  async run(io, invocation) {
    const pruneSelector = pruneScope(invocation);
    const files = invocation.options["file"] as readonly string[];
    const desired = desiredJobs(await readJobFiles(io, files), io.now());
    if (pruneSelector !== null) refuseOutside(desired, pruneSelector);
    return applyJobs(io, invocation, { client: clientOf(io, invocation), desired, pruneSelector });
  },
};

/** Without a scope a prune would cancel what others made. */
function pruneScope(invocation: Invocation): string | null {
  const selector = textOption(invocation, "selector");
  const isPrune = flagOption(invocation, "prune");
  if (isPrune && selector === undefined)
    throw new CliError(ExitCode.usage, "--prune needs --selector: which jobs are these files the whole of?");
  if (!isPrune && selector !== undefined) throw new CliError(ExitCode.usage, "--selector goes with --prune");
  return selector ?? null;
}

/** A job outside the scope would be made by one file and never be pruned by any. */
function refuseOutside(desired: readonly DesiredJob[], selector: string): void {
  const conditions = parseLabelSelector(selector);
  const outside = desired.filter(({ plain }) => !conditions.every((one) => holds(one, plain.labels ?? {})));
  if (outside.length === 0) return;
  const which = outside.map(({ place, key }) => `\n  - ${place}: ${key}`).join("");
  throw new CliError(ExitCode.usage, `nothing was changed: --selector ${selector} does not name these jobs:${which}`);
}

function holds({ key, isIn, among }: LabelCondition, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isAmong = value !== undefined && (among === undefined || among.includes(value));
  return isIn === isAmong;
}
