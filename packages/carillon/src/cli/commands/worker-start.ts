import { hostname } from "node:os";
import { type CommandModule, requiredArg, textOption } from "../command.js";
import { configOf, withConfigFlags } from "../input/config-flags.js";
import { label } from "../input/label.js";
import { wholeNumber } from "../input/number.js";
import { queueSlots } from "../input/queue-slots.js";
import { serverUrls, withServerAddress } from "../input/server-address.js";
import { loadTasks } from "../tasks/load-tasks.js";
import { runWorkerProcess } from "../tasks/worker-process.js";

const defaultSlots = 10;
const mostSlots = 10_000;

export const command: CommandModule = {
  define(target) {
    target.argument("<entry>", "a module that exports tasks: .js, .mjs, .ts");
    withServerAddress(target)
      .option("--queues <list>", "queues to serve, such as default,mail=5: mail has 5 slots of its own", "*")
      .option(
        "--slots <count>",
        "runs at a time, for all queues without a number",
        wholeNumber(1, mostSlots),
        defaultSlots,
      )
      .option("--label <name=value>", "what the worker says of itself; can be given several times", label, {})
      .option("--spot", "its machine may go at any time: it gets only runs that allow it")
      .option("--name <name>", "shown in lists of workers (default: the host's name)");
    withConfigFlags(target, ["shutdownGrace", "logLevel", "logFormat"]).addHelpText(
      "after",
      `
--url takes several nodes of one cluster, separated by commas: when one fails, the worker goes on with the next. While none
answers it tries on; results wait.

Runs until SIGINT or SIGTERM: then it takes nothing more, lets runs end within --shutdown-grace or gives them back. A second
signal ends it at once. With --spot SIGUSR2 is the notice that the machine goes: handlers are signalled at once, and what has not
ended soon is given back with nothing spent. CARILLON_TOKEN is sent as a bearer token.

Examples:
  $ carillon worker start ./tasks.ts
  $ carillon worker start ./tasks.js --url http://a.example:8023,http://b.example:8023 --queues default,mail=5 --slots 20`,
    );
  },
  async run(io, invocation) {
    const urls = serverUrls(io, invocation);
    const groups = queueSlots(textOption(invocation, "queues") ?? "*", Number(invocation.options["slots"]));
    const { config } = configOf(io, invocation);
    const tasks = await loadTasks(requiredArg(invocation, 0), io.cwd);
    const name = textOption(invocation, "name") ?? hostname();
    const labels = { ...(invocation.options["label"] as Record<string, string>) };
    const isSpot = invocation.options["spot"] === true;
    return runWorkerProcess(io, { urls, groups, config, tasks, name, labels, isSpot });
  },
};
