import { hostname } from "node:os";
import type { Config } from "@carillon/server";
import { type Task, workerTimers } from "@carillon/worker";
import { CliError } from "../cli-error.js";
import { type CommandModule, type Invocation, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { configOf, withConfigFlags } from "../input/config-flags.js";
import { label } from "../input/label.js";
import { executorChoice, withExecutorFlags } from "../input/executor-flags.js";
import { wholeNumber } from "../input/number.js";
import { queueSlots } from "../input/queue-slots.js";
import { serverAddress, serverUrls, withServerAddress } from "../input/server-address.js";
import type { Io } from "../io.js";
import { loadExecutors } from "../tasks/load-executors.js";
import { loadTasks, refuseDoubles } from "../tasks/load-tasks.js";
import { runWorkerProcess } from "../tasks/worker-process.js";

const defaultSlots = 10;
const mostSlots = 10_000;

export const command: CommandModule = {
  define(target) {
    target.argument("[entry]", "a module that exports tasks: .js, .mjs, .ts");
    withServerAddress(target)
      .option("--queues <list>", "queues to serve, such as default,mail=5: mail has 5 slots of its own", "*")
      .option("--namespaces <list>", "namespaces whose runs it takes, by their weights; * for all (default: its own)")
      .option(
        "--slots <count>",
        "runs at a time, for all queues without a number",
        wholeNumber(1, mostSlots),
        defaultSlots,
      )
      .option("--label <name=value>", "what the worker says of itself; can be given several times", label)
      .option("--spot", "its machine may go at any time: it gets only runs that allow it")
      .option("--name <name>", "shown in lists of workers (default: the host's name)");
    withExecutorFlags(target);
    withConfigFlags(target, [
      "outboundAllowlist",
      "publicUrl",
      "shutdownGracePeriod",
      "logLevel",
      "logFormat",
    ]).addHelpText(
      "after",
      `
--url takes several nodes of one cluster, separated by commas: when one fails, the worker goes on with the next. While none
answers it tries on; results wait.

Runs until SIGINT or SIGTERM: then it takes nothing more, lets runs end within --shutdown-grace-period or gives them back. A second
signal ends it at once. With --spot SIGUSR2 is the notice that the machine goes: handlers are signalled at once, and what has not
ended soon is given back with nothing spent. CARILLON_TOKEN, or the key of the profile, is sent as a
bearer token.

Examples:
  $ carillon worker start ./tasks.ts
  $ carillon worker start --executors http,email
  $ carillon worker start --enable-shell --queues backup
  $ carillon worker start ./tasks.ts --plugin ./my-executor.js
  $ carillon worker start ./tasks.js --url http://a.example:8023,http://b.example:8023 --queues default,mail=5 --slots 20`,
    );
  },
  async run(io, invocation) {
    const { token, namespace, ...address } = serverAddress(io, invocation);
    const urls = serverUrls(address);
    const groups = queueSlots(textOption(invocation, "queues") ?? "*", Number(invocation.options["slots"]));
    const { config } = configOf(io, invocation);
    const tasks = await tasksOf(io, invocation, { config, serverUrl: urls[0] ?? null });
    const name = textOption(invocation, "name") ?? hostname();
    const labels = { ...(invocation.options["label"] as Record<string, string> | undefined) };
    const isSpot = invocation.options["spot"] === true;
    const namespaces = textOption(invocation, "namespaces")?.split(",");
    return runWorkerProcess(io, {
      urls,
      groups,
      config,
      tasks,
      name,
      labels,
      isSpot,
      ...(token !== undefined && { token }),
      ...(namespace !== undefined && { namespace }),
      ...(namespaces !== undefined && { namespaces: namespaces.map((one) => one.trim()) }),
    });
  },
};

interface Surroundings {
  readonly config: Config;
  readonly serverUrl: string | null;
}

async function tasksOf(io: Io, invocation: Invocation, { config, serverUrl }: Surroundings): Promise<Task[]> {
  const [entry] = invocation.args;
  const { outboundAllowlist, publicUrl } = config;
  const around = {
    cwd: io.cwd,
    env: io.env,
    timers: workerTimers,
    outboundAllow: outboundAllowlist ?? [],
    callbackBase: () => publicUrl ?? serverUrl,
  };
  const tasks = [
    ...(entry === undefined ? [] : await loadTasks(entry, io.cwd)),
    ...(await loadExecutors(executorChoice(invocation), around)),
  ];
  if (tasks.length === 0)
    throw new CliError(ExitCode.usage, "a worker needs a module of tasks, --executors, --enable-shell or --plugin");
  refuseDoubles(tasks, "this worker");
  return tasks;
}
