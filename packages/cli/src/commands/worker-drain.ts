import { type CommandModule, requiredArg } from "../command.js";
import { clientOf } from "../client.js";
import { printWorker, withWorkerArgument } from "../input/worker-argument.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWorkerArgument(target)
      .option("--notice", "its machine goes: handlers are told at once, and what has not ended soon is given back")
      .addHelpText(
        "after",
        `
It is given nothing more, ends what it has within its grace time or gives it back, and leaves. A worker inside a node is
only given nothing more.

Examples:
  $ carillon worker drain wrk_01k9zq3v5e0r8t2b7n4m6x1c9d
  $ carillon worker drain wrk_01k9zq3v5e0r8t2b7n4m6x1c9d --notice`,
      );
  },
  async run(io, invocation) {
    const request = invocation.options["notice"] === true ? { notice: true } : {};
    const worker = await clientOf(io, invocation).workers.drain(requiredArg(invocation, 0), request);
    await printWorker(io, invocation, worker);
    printNoUndo(io, "told to end", "start another with carillon worker start");
  },
};
