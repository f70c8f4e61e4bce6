import { Option } from "commander";
import { clientOf } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../job-flags.js";
import { pauseFlags, printUndo } from "../undo.js";

const missed = ["none", "latest", "all"] as const;

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .option("--reason <text>", "why, for those who look at it later")
      .addOption(new Option("--for <duration>", "resume by itself after this time, as in 2h").conflicts("until"))
      .option("--until <instant>", "resume by itself then, as in 2030-01-01T09:00:00Z")
      .addOption(
        new Option("--missed <which>", "what a resume that says nothing runs of the occurrences inside").choices(
          missed,
        ),
      )
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
    const which = missed.find((choice) => choice === invocation.options["missed"]);
    const { jobs } = clientOf(io, invocation);
    const { pause: before } = await jobs.get(name);
    const job = await jobs.pause(name, {
      ...(reason !== undefined && { reason }),
      ...(length !== undefined && { for: length }),
      ...(until !== undefined && { until }),
      ...(which !== undefined && { missed: which }),
    });
    await printJob(io, invocation, job);
    if (!before) printUndo(io, invocation, "paused", `job resume ${name}`);
    else printUndo(io, invocation, "it was paused already", `job pause ${name}${pauseFlags(before, io.now())}`);
  },
};
