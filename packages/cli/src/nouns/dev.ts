import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config, NodeFacts } from "@carillon/server";
import { Option } from "commander";
import { type CommandBody, flagOption } from "../command.js";
import { configOf, withConfigFlags } from "../config-flags.js";
import { DevWorker } from "../dev-worker.js";
import { type ExitCode, usageError } from "../exit-codes.js";
import type { Io } from "../io.js";
import { serverAddress } from "../server-address.js";
import { tasksPath } from "../load-tasks.js";
import { type Companion, runNodeProcess } from "../node-process.js";
import { packageVersion } from "../package-version.js";
import { painter } from "../output.js";

export const dev: CommandBody = {
  define: (target) =>
    withConfigFlags(
      target
        .argument(
          "[tasks]",
          "a module that exports tasks: .js, .mjs, .ts; loaded again when a file changes that they import",
        )
        .addOption(
          new Option("--ephemeral", "on a new database in a temporary folder, removed at the end").conflicts("reset"),
        )
        .option("--reset", "start with an empty database: removes all jobs, runs and history"),
    ),
  notes: `
Runs the built-in tasks echo, sleep, fail, http and email, and those of the module, which run in a process of their own: when a file
changes that the module imports, a new process takes over, and running handlers end on the old code. Without CARILLON_SMTP_URL, mails
of the task email are not sent but stored: carillon mail list.

If the port is taken, the next free one is used. Commands in this folder, and in folders below it, find the server by a file in the
data folder; the SDK does too.`,
  examples: [
    "carillon dev",
    "carillon dev ./tasks.ts",
    "carillon dev --ephemeral --port 9000",
    "carillon dev --database-url postgres://me@localhost/test",
  ],
  async run(io, invocation) {
    const config = devConfig(configOf(io, invocation).config);
    const ephemeral = flagOption(invocation, "ephemeral");
    const reset = flagOption(invocation, "reset");
    if (config.databaseUrl !== null && (ephemeral || reset))
      throw usageError(
        "The flags --ephemeral and --reset are for the embedded database. Leave them out, or leave out --database-url.",
      );
    const companion = devWorkerOf(io, invocation.args[0], config);
    return ephemeral ? serveEphemeral(io, config, companion) : serve(io, config, { reset, companion });
  },
};

/** Every user of this node is on this machine: its jobs may reach the other services there. */
function devConfig(config: Config): Config {
  return { ...config, outboundAllowlist: config.outboundAllowlist ?? ["loopback"] };
}

function devWorkerOf(io: Io, tasks: string | undefined, config: Config): Companion | undefined {
  if (tasks === undefined) return undefined;
  const entry = tasksPath(tasks, io.cwd);
  const { logLevel, logFormat, shutdownGracePeriod } = config;
  const format = logFormat === "auto" && io.stderrIsTerminal ? "pretty" : logFormat;
  const args = ["--log-level", logLevel, "--log-format", format, "--shutdown-grace-period", `${shutdownGracePeriod}ms`];
  return new DevWorker(io, { entry, args });
}

interface ServeOptions {
  readonly reset: boolean;
  /** The folder of the file with the address, if it is not the data folder. */
  readonly announceIn?: string;
  readonly companion: Companion | undefined;
}

function serve(io: Io, config: Config, { companion, ...options }: ServeOptions): Promise<ExitCode> {
  return runNodeProcess(io, {
    config,
    dev: true,
    ...options,
    ...(companion !== undefined && { companion }),
    onReady: (facts) => {
      void io.out(devBanner(facts, packageVersion(), io.stdoutColour));
      void warnOfOtherServer(io, facts);
    },
  });
}

/** A variable, or a profile in use, sends the commands of this folder to another server than this one. */
async function warnOfOtherServer(io: Io, { url }: NodeFacts): Promise<void> {
  const address = await serverAddress(io, { args: [], options: {} }).catch(() => null);
  if (address === null || address.url === url) return;
  io.info(`carillon: commands in this folder use ${address.url}; for this server, give them --url ${url}`);
  io.info(`carillon: that address is ${address.source}`);
}

async function serveEphemeral(io: Io, config: Config, companion: Companion | undefined): Promise<ExitCode> {
  const dataDir = mkdtempSync(join(tmpdir(), "carillon-"));
  try {
    return await serve(io, { ...config, dataDir }, { reset: false, announceIn: config.dataDir, companion });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A request that any shell takes as printed. */
const createLine = (url: string): string =>
  `curl -sS ${url}/v1/jobs -H 'content-type: application/json' -d '{"task":"echo","payload":{"hello":"world"}}'`;

const runsLine = (url: string): string => `curl -sS '${url}/v1/runs?page_size=1'`;

/** What `carillon dev` prints when it is ready. */
export function devBanner({ url, dataDir, postgres }: NodeFacts, version: string, colour: boolean): string {
  const paint = painter(colour);
  const port = postgres.port === null ? "" : `, port ${postgres.port}`;
  const adopted = postgres.adopted ? ", found running" : "";
  return [
    "",
    paint("bold", `Carillon ${version} is ready.`),
    "",
    `  URL         ${paint("cyan", url)}`,
    `  API         ${paint("cyan", `${url}/docs`)}`,
    ...(dataDir === null ? [] : [`  Data        ${dataDir}`]),
    `  PostgreSQL  ${postgres.version}${port}${adopted}`,
    "",
    "Create a job, and list its run:",
    "",
    `  ${createLine(url)}`,
    `  ${runsLine(url)}`,
    "",
    "Stop with Ctrl-C.",
    "",
    "",
  ].join("\n");
}
