import type { Event } from "@carillon/contract";
import { type Commands, numberOption, textFields } from "../command.js";
import { wholeNumber } from "../flags.js";
import { jobName, withJobOption } from "../job-flags.js";
import { outputForm, plainText, renderNext } from "../output.js";
import { type Call, serverCommand } from "../verbs.js";

export const eventCommands: Commands = {
  tail: serverCommand(null, {
    summary: "follow events as they happen",
    define: (target) =>
      withJobOption(target.option("--type <kinds>", "only these, separated by commas, as in run.failed,job"))
        .option("--run <run>", "only of this run")
        .option("--queue <name>", "only in this queue")
        .option("-n, --count <number>", "end after so many", wholeNumber(1, 1_000_000_000)),
    notes: "Events are notices, not a record: a line on standard error marks where some may be missing.",
    examples: ["carillon events tail --type run.failed", "carillon events tail --job @nightly-report -o jsonl -n 10"],
    run: tail,
  }),
};

async function tail({ io, invocation, client }: Call): Promise<void> {
  const form = outputForm(invocation);
  let left = numberOption(invocation, "count") ?? Number.POSITIVE_INFINITY;
  let isLost = false;
  const sleep = async (ms: number): Promise<void> => {
    if (!isLost) io.info("carillon: the connection was lost; retrying until it is back, or Ctrl-C");
    isLost = true;
    await io.sleep(ms);
  };
  const { job, ...filter } = textFields(invocation, ["type", "job", "run", "queue"]);
  const query = { ...filter, ...(job !== undefined && { job: jobName(job) }) };
  for await (const message of client.events.follow(query, { sleep })) {
    isLost = false;
    if ("reset" in message) {
      io.info("carillon: some events may be missing here");
      continue;
    }
    await io.out(form === "table" ? renderEvent(message.event) : renderNext(message.event, form));
    left -= 1;
    if (left <= 0) return;
  }
}

/** One line for people: time, type, the run, job, queue, task, worker or node, and its numbers. */
export function renderEvent(event: Event): string {
  const { type, at, run_id: run, job_id: job, task, queue, worker_id: worker, node_id: node, ...rest } = event;
  const subject = run ?? job ?? queue ?? task ?? worker ?? node ?? "";
  const details = Object.entries(rest).flatMap(([name, value]) => (value === null ? [] : [`${name}=${String(value)}`]));
  const words = [
    at,
    type.padEnd(13),
    subject,
    ...(task === undefined || queue === undefined ? [] : [`${task} in ${queue}`]),
    ...details,
  ];
  return `${words.map(plainText).join("  ").trimEnd()}\n`;
}
