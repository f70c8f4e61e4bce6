import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@carillon/server";
import { CliError } from "../cli-error.js";
import { type CommandModule, flagOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { configOf, withConfigFlags } from "../input/config-flags.js";
import type { Io } from "../io.js";
import { runNodeProcess } from "../node-process.js";
import { devBanner } from "../output/dev-banner.js";
import { packageVersion } from "../package-version.js";

export const command: CommandModule = {
  define(target) {
    target
      .option("--ephemeral", "on a new database in a temporary folder, removed at the end")
      .option("--reset", "begin with an empty database: removes all jobs, runs and history");
    withConfigFlags(target).addHelpText(
      "after",
      `
Runs the built-in tasks echo, sleep, fail and http. If the port is taken, the next free one is used.

Examples:
  $ carillon dev
  $ carillon dev --ephemeral --port 9000
  $ carillon dev --database-url postgres://me@localhost/test`,
    );
  },
  async run(io, invocation) {
    const { config } = configOf(io, invocation);
    const ephemeral = flagOption(invocation, "ephemeral");
    const reset = flagOption(invocation, "reset");
    if (config.databaseUrl !== null && (ephemeral || reset)) {
      throw new CliError(
        ExitCode.usage,
        "--ephemeral and --reset are for the embedded database: leave them out, or leave out --database-url",
      );
    }
    return ephemeral ? serveEphemeral(io, config) : serve(io, config, reset);
  },
};

function serve(io: Io, config: Config, reset: boolean): Promise<ExitCode> {
  return runNodeProcess(io, {
    config,
    dev: true,
    reset,
    onReady: (facts) => void io.out(devBanner(facts, packageVersion(), io.outColour)),
  });
}

async function serveEphemeral(io: Io, config: Config): Promise<ExitCode> {
  const dataDir = mkdtempSync(join(tmpdir(), "carillon-"));
  try {
    return await serve(io, { ...config, dataDir }, false);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
