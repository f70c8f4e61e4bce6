import type { UpcomingFire } from "@carillon/contract";
import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { wholeNumber } from "../flags.js";
import { jobArgument, withJobArgument } from "../job-flags.js";
import { outputForm, printList } from "../output.js";
import type { Column } from "../table.js";

const DEFAULT_COUNT = 10;

const columns: readonly Column<UpcomingFire>[] = [
  { title: "UTC", value: (fire) => fire.scheduled_for },
  { title: "LOCAL", value: (fire) => fire.local_time },
  { title: "OUTCOME", value: ({ outcome }) => outcome },
  { title: "NOTE", value: ({ notes }) => notes.map(({ detail }) => detail).join("; ") },
];

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .option("-n, --count <number>", "how many", wholeNumber(1, 1_000), DEFAULT_COUNT)
      .addHelpText(
        "after",
        `
Example:
  $ carillon job next @nightly-report -n 3`,
      );
  },
  async run(io, invocation) {
    const { count } = invocation.options;
    const limit = typeof count === "number" ? count : DEFAULT_COUNT;
    const { fires } = await clientOf(io, invocation).jobs.upcoming(jobArgument(invocation), { count: limit });
    const page = async () => ({ rows: fires, next: null });
    await printList(io, { form: outputForm(invocation), limit, columns, noun: "fires ahead", page });
  },
};
