import { type Config, Node, type NodeFacts, type NodeOptions, createLogger, runNode } from "@carillon/server";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { packageVersion } from "./package-version.js";

/** Beyond the grace time for running work: closing connections, the database's last checkpoint. */
const CLOSING_MS = 15_000;

export interface NodeProcess extends Pick<NodeOptions, "dev" | "reset"> {
  readonly config: Config;
  readonly onReady: (facts: NodeFacts) => void;
}

/** Logs are talk: they go to stderr. */
export const serverLogger = (io: Io, config: Config): NodeOptions["logger"] =>
  createLogger(config, { stream: io.stderr, isTerminal: io.talkIsTerminal, colour: io.talkColour });

/** Makes this process a node until a signal ends it. */
export async function runNodeProcess(io: Io, { config, onReady, ...options }: NodeProcess): Promise<ExitCode> {
  const logger = serverLogger(io, config);
  const node = new Node({ config, logger, version: packageVersion(), ...options });
  const stopLimitMs = config.shutdownGrace + CLOSING_MS;
  const code = await runNode({ node, logger, stopLimitMs, onReady, process });
  return code === 0 ? ExitCode.ok : ExitCode.failure;
}
