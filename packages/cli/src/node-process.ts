import {
  type Config,
  Node,
  type NodeFacts,
  type NodeOptions,
  type Runnable,
  createLogger,
  runNode,
} from "@carillon/server";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { packageVersion } from "./package-version.js";

/** Beyond the grace time for running work: closing connections, the database's last checkpoint. */
const CLOSING_MS = 15_000;

/** A process beside a node, which starts after the node and stops before it. */
export interface Companion {
  start(facts: NodeFacts): void;
  stop(): Promise<void>;
  /** Called when this process ends without a graceful stop. */
  abandon(): void;
}

export interface NodeProcess extends Pick<NodeOptions, "dev" | "reset" | "announceIn"> {
  readonly config: Config;
  readonly onReady: (facts: NodeFacts) => void;
  readonly companion?: Companion;
}

/** Logs go to stderr, as all messages do. */
export const serverLogger = (io: Io, config: Config): NodeOptions["logger"] =>
  createLogger(config, { stream: io.stderr, isTerminal: io.stderrIsTerminal, colour: io.stderrColour });

/** Runs a node in this process until a signal ends it. */
export async function runNodeProcess(io: Io, options: NodeProcess): Promise<ExitCode> {
  const { config, onReady, companion, ...rest } = options;
  const logger = serverLogger(io, config);
  const node = new Node({ config, logger, version: packageVersion(), cwd: io.cwd, ...rest });
  // A companion that drains has a grace time of its own.
  const stopLimitMs = config.shutdownGracePeriod * (companion === undefined ? 1 : 2) + CLOSING_MS;
  const running = companion === undefined ? node : withCompanion(node, companion);
  const code = await runNode({ node: running, logger, stopLimitMs, onReady, process });
  return code === 0 ? ExitCode.ok : ExitCode.failure;
}

function withCompanion(node: Node, companion: Companion): Runnable<NodeFacts> {
  return {
    async start() {
      await node.start();
      companion.start(node.facts);
    },
    async stop() {
      await companion.stop();
      await node.stop();
    },
    abandon() {
      companion.abandon();
      node.abandon();
    },
    get facts() {
      return node.facts;
    },
  };
}
