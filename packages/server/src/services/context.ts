import type { Logger } from "pino";
import type { Config } from "../config/options.js";

/** What every part of a node is given. */
export interface NodeContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  /** Fires when the node is asked to stop, so that a start under way does not keep it. */
  readonly stopping: AbortSignal;
}
