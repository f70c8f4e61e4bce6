import type { JobPatch } from "@carillon/contract";
import { type CommandModule, requiredArg } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../input/job-argument.js";
import { readJsonArgument } from "../input/json-value.js";
import { wholeNumber } from "../input/number.js";
import { clientOf } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";

const LAST_VERSION = 2_147_483_647;

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .argument("<patch>", "JSON with what changes; null removes; @file reads a file, - standard input")
      .option("--if-version <number>", "only if the job still has this version", wholeNumber(1, LAST_VERSION))
      .addHelpText(
        "after",
        `
Examples:
  $ carillon job update @nightly-report '{"schedule":{"cron":"0 3 * * *"}}'
  $ carillon job update @nightly-report '{"overlap":"queue_one","timeout":null}' --if-version 7`,
      );
  },
  async run(io, invocation) {
    // What the patch may hold is the server's to judge.
    const patch = (await readJsonArgument(io, requiredArg(invocation, 1), "<patch>")) as JobPatch;
    const { ifVersion } = invocation.options;
    const options = typeof ifVersion === "number" ? { ifVersion } : {};
    const name = jobArgument(invocation);
    const { jobs } = clientOf(io, invocation);
    const before = typeof ifVersion === "number" ? ifVersion : (await jobs.get(name)).version;
    const job = await jobs.update(name, patch, options);
    await printJob(io, invocation, job);
    if (job.version === before) io.talk(`carillon: nothing changed; it still is version ${before}`);
    else sayUndo(io, invocation, `version ${job.version}`, `job rollback ${name} ${before}`);
  },
};
