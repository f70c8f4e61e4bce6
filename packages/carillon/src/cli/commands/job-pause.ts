import { Option } from "commander";
import { type CommandModule, textOption } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../input/job-argument.js";
import { clientOf } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .option("--reason <text>", "why, for those who look at it later")
      .addOption(new Option("--for <duration>", "resume by itself after this time, as in 2h").conflicts("until"))
      .option("--until <instant>", "resume by itself then, as in 2030-01-01T09:00:00Z")
      .addHelpText(
        "after",
        `
Example:
  $ carillon job pause @nightly-report --for 2h --reason 'the database moves'`,
      );
  },
  async run(io, invocation) {
    const name = jobArgument(invocation);
    const [reason, length, until] = ["reason", "for", "until"].map((option) => textOption(invocation, option));
    const job = await clientOf(io, invocation).jobs.pause(name, {
      ...(reason !== undefined && { reason }),
      ...(length !== undefined && { for: length }),
      ...(until !== undefined && { until }),
    });
    await printJob(io, invocation, job);
    sayUndo(io, invocation, "paused", `job resume ${name}`);
  },
};
