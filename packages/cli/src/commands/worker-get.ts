import { type CommandModule, requiredArg } from "../command.js";
import { clientOf } from "../client.js";
import { withWorkerArgument } from "../input/worker-argument.js";
import { outputForm, renderJson } from "../output.js";
import { runColumns } from "../output/run-view.js";
import { renderTable } from "../table.js";
import { renderWorker } from "../output/worker-view.js";

const maxRuns = 20;

export const command: CommandModule = {
  define(target) {
    withWorkerArgument(target).addHelpText(
      "after",
      `
With the newest runs that it has or had.

Example:
  $ carillon worker get wrk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const { workers } = clientOf(io, invocation);
    const id = requiredArg(invocation, 0);
    const [worker, { runs }] = await Promise.all([workers.get(id), workers.runs(id, { page_size: maxRuns })]);
    const form = outputForm(invocation);
    if (form !== "table") return io.out(renderJson({ ...worker, runs }, form));
    await io.out(renderWorker(worker));
    if (runs.length > 0) await io.out(`\n${renderTable(runColumns, runs)}`);
  },
};
