import type { EventQuery } from "@carillon/contract";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, type Invocation, textOption } from "../command.js";
import { wholeNumber } from "../flags.js";
import { jobName } from "../job-flags.js";
import { outputForm, renderNext, withOutputForm } from "../output.js";
import { renderEvent } from "../output/event-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target))
      .option("--type <kinds>", "only these, separated by commas, as in run.failed,job")
      .option("--job <job>", "only of this job: its key, or its id")
      .option("--run <run>", "only of this run")
      .option("--queue <name>", "only in this queue")
      .option("-n, --count <number>", "end after so many", wholeNumber(1, 1_000_000_000))
      .addHelpText(
        "after",
        `
Events are hints, not a record: where some may have been missed, a line on standard error says so.

Examples:
  $ carillon events tail --type run.failed
  $ carillon events tail --job @nightly-report -o jsonl -n 10`,
      );
  },
  async run(io, invocation) {
    const form = outputForm(invocation);
    const { count } = invocation.options;
    let left = typeof count === "number" ? count : Number.POSITIVE_INFINITY;
    let isLost = false;
    const sleep = async (ms: number): Promise<void> => {
      if (!isLost) io.info("carillon: the connection broke off; trying again until it is there, or Ctrl-C");
      isLost = true;
      await io.sleep(ms);
    };
    const news = clientOf(io, invocation).events.follow(eventQuery(invocation), { sleep });
    for await (const one of news) {
      isLost = false;
      if ("reset" in one) {
        io.info("carillon: some events may have been missed here");
        continue;
      }
      await io.out(form === "table" ? renderEvent(one.event) : renderNext(one.event, form));
      left -= 1;
      if (left <= 0) return;
    }
  },
};

function eventQuery(invocation: Invocation): EventQuery {
  const names = ["type", "job", "run", "queue"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textOption(invocation, name);
      return value === undefined ? [] : [[name, name === "job" ? jobName(value) : value]];
    }),
  );
}
