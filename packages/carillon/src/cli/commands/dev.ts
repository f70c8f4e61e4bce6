import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@carillon/server";
import { Option } from "commander";
import { CliError } from "../cli-error.js";
import { type CommandModule, flagOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { configOf, withConfigFlags } from "../input/config-flags.js";
import type { Io } from "../io.js";
import { type Companion, runNodeProcess } from "../node-process.js";
import { devBanner } from "../output/dev-banner.js";
import { packageVersion } from "../package-version.js";
import { DevWorker } from "../tasks/dev-worker.js";
import { tasksPath } from "../tasks/load-tasks.js";

export const command: CommandModule = {
  define(target) {
    target
      .argument("[tasks]", "a module that exports tasks: .js, .mjs, .ts; loaded again when a source file changes")
      .addOption(
        new Option("--ephemeral", "on a new database in a temporary folder, removed at the end").conflicts("reset"),
      )
      .option("--reset", "begin with an empty database: removes all jobs, runs and history");
    withConfigFlags(target).addHelpText(
      "after",
      `
Runs the built-in tasks echo, sleep, fail, http and email, and those of the module, in a process of their own: when a source file in its
folder changes, a new one takes over, and handlers that are at work end on the old code. If the port is taken, the next free
one is used.

Examples:
  $ carillon dev
  $ carillon dev ./tasks.ts
  $ carillon dev --ephemeral --port 9000
  $ carillon dev --database-url postgres://me@localhost/test`,
    );
  },
  async run(io, invocation) {
    const config = devConfig(configOf(io, invocation).config);
    const ephemeral = flagOption(invocation, "ephemeral");
    const reset = flagOption(invocation, "reset");
    if (config.databaseUrl !== null && (ephemeral || reset)) {
      throw new CliError(
        ExitCode.usage,
        "--ephemeral and --reset are for the embedded database: leave them out, or leave out --database-url",
      );
    }
    const companion = devWorkerOf(io, invocation.args[0], config);
    return ephemeral ? serveEphemeral(io, config, companion) : serve(io, config, { reset, companion });
  },
};

/** Who may use it is on this machine already: its jobs may reach what else is there. */
function devConfig(config: Config): Config {
  return { ...config, outboundAllowlist: config.outboundAllowlist ?? ["loopback"] };
}

interface DevOptions {
  readonly reset: boolean;
  readonly companion: Companion | undefined;
}

function devWorkerOf(io: Io, tasks: string | undefined, config: Config): Companion | undefined {
  if (tasks === undefined) return undefined;
  const entry = tasksPath(tasks, io.cwd);
  const { logLevel, logFormat, shutdownGracePeriod } = config;
  const format = logFormat === "auto" && io.talkIsTerminal ? "pretty" : logFormat;
  const args = ["--log-level", logLevel, "--log-format", format, "--shutdown-grace-period", `${shutdownGracePeriod}ms`];
  return new DevWorker(io, { entry, args });
}

function serve(io: Io, config: Config, { reset, companion }: DevOptions): Promise<ExitCode> {
  return runNodeProcess(io, {
    config,
    dev: true,
    reset,
    ...(companion !== undefined && { companion }),
    onReady: (facts) => void io.out(devBanner(facts, packageVersion(), io.outColour)),
  });
}

async function serveEphemeral(io: Io, config: Config, companion: Companion | undefined): Promise<ExitCode> {
  const dataDir = mkdtempSync(join(tmpdir(), "carillon-"));
  try {
    return await serve(io, { ...config, dataDir }, { reset: false, companion });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
