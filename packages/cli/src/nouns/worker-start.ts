import { hostname } from "node:os";
import { present } from "@carillon/core";
import type { Config } from "@carillon/server";
import { ServerRefused, type Task, taskRefusal, workerTimers } from "@carillon/worker";
import { serverAddress, serverUrls, withServerAddress } from "../server-address.js";
import { type CommandBody, flagOption, type Invocation, textOption } from "../command.js";
import { configOf, withConfigFlags } from "../config-flags.js";
import { CliError, ExitCode, exitCodeOfStatus, usageError } from "../exit-codes.js";
import { label, wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { executorChoice, loadExecutors, withExecutorFlags } from "../load-executors.js";
import { loadTasks, refuseDuplicates, settingError, tasksPath } from "../load-tasks.js";
import { maxSlots, queueSlots, runWorkerProcess } from "../worker-process.js";

const defaultSlots = 10;

/** The body of `carillon worker start`, which reads the settings of a node, and so loads the server. */
export const workerStart: CommandBody = {
  define(target) {
    withServerAddress(target.argument("[entry]", "a module that exports tasks: .js, .mjs, .ts"))
      .option("--queues <list>", "queues to serve, such as default,mail=5: mail has 5 slots of its own", "*")
      .option("--namespaces <list>", "namespaces whose runs it takes, by their weights; * for all (default: its own)")
      .option(
        "--slots <count>",
        "runs at a time, for all queues without a number",
        wholeNumber(1, maxSlots),
        defaultSlots,
      )
      .option("--label <name=value>", "what the worker declares about itself; can be given several times", label)
      .option("--spot", "its machine may stop at any time: it gets only runs that allow it")
      .option("--name <name>", "shown in lists of workers (default: the host's name)");
    withExecutorFlags(target);
    withConfigFlags(target, ["outboundAllowlist", "publicUrl", "shutdownGracePeriod", "logLevel", "logFormat"]);
  },
  notes: `
--url takes several nodes of one cluster, separated by commas: if one fails, the worker continues with the next. While none
answers it retries; results wait.

Runs until SIGINT or SIGTERM: then it takes no more runs, and lets runs end within --shutdown-grace-period or gives them back. A second
signal ends it immediately. With --spot SIGUSR2 announces that the machine is about to stop: handlers are signalled immediately, and runs
that do not end soon are given back without a spent attempt. CARILLON_TOKEN, or the key of the profile, is sent as a bearer token.`,
  examples: [
    "carillon worker start ./tasks.ts",
    "carillon worker start --executors http,email",
    "carillon worker start --enable-shell --queues backup",
    "carillon worker start ./tasks.ts --plugin ./my-executor.js",
    "carillon worker start ./tasks.js --url http://a.example:8023,http://b.example:8023 --queues default,mail=5 --slots 20",
  ],
  async run(io, invocation) {
    const { token, namespace, ...address } = await serverAddress(io, invocation);
    const urls = serverUrls(address);
    const groups = queueSlots(textOption(invocation, "queues") ?? "*", Number(invocation.options["slots"]));
    const { config } = configOf(io, invocation);
    const tasks = await tasksOf(io, invocation, { config, serverUrl: urls[0] ?? null });
    const namespaces = textOption(invocation, "namespaces")?.split(",");
    const running = runWorkerProcess(io, {
      urls,
      groups,
      config,
      tasks,
      name: textOption(invocation, "name") ?? hostname(),
      labels: { ...(invocation.options["label"] as Record<string, string> | undefined) },
      isSpot: flagOption(invocation, "spot"),
      ...present({ token, namespace }),
      ...(namespaces !== undefined && { namespaces: namespaces.map((one) => one.trim()) }),
    });
    return running.catch((error: unknown) => {
      throw refusal(error, io, invocation);
    });
  },
};

/** The server refused the worker: because of an option of its tasks, or as it refuses any call. */
function refusal(error: unknown, io: Io, { args: [entry] }: Invocation): unknown {
  if (!(error instanceof ServerRefused)) return error;
  const wrongTask = taskRefusal(error.items);
  if (wrongTask === null) return new CliError(exitCodeOfStatus(error.status), error.message, { cause: error });
  return entry === undefined ? wrongTask : (settingError(wrongTask, tasksPath(entry, io.cwd)) ?? wrongTask);
}

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
    outboundAllowlist: outboundAllowlist ?? [],
    callbackBase: () => publicUrl ?? serverUrl,
  };
  const choice = executorChoice(invocation);
  // Without one, every mail would fail for good.
  if (choice.names.includes("email") && !io.env["CARILLON_SMTP_URL"])
    throw new CliError(
      ExitCode.config,
      "The executor email needs a mail server: set CARILLON_SMTP_URL to smtp://… or smtps://….",
    );
  const tasks = [
    ...(entry === undefined ? [] : await loadTasks(entry, io.cwd, io.onImport)),
    ...(await loadExecutors(choice, around)),
  ];
  if (tasks.length === 0)
    throw usageError("A worker needs a module of tasks, --executors, --enable-shell or --plugin.");
  refuseDuplicates(tasks, "This worker");
  return tasks;
}
