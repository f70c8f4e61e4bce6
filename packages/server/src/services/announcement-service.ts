import { statSync } from "node:fs";
import { announceServer, type LocalServer } from "@carillon/worker";
import type { NodeContext, Service } from "./service.js";

export interface AnnouncementOptions {
  /** The data folder of the working directory: commands look for the server's address there. */
  readonly dataDir: string;
  /** Whether the folder is made if it is missing. */
  readonly makesFolder: boolean;
  readonly server: () => LocalServer;
}

/** A file in the data folder with the address of this process, while it serves. */
export class AnnouncementService implements Service {
  readonly name = "announcement";
  readonly #context: NodeContext;
  readonly #options: AnnouncementOptions;
  #remove: (() => void) | null = null;

  constructor(context: NodeContext, options: AnnouncementOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** A folder that cannot be written to is no reason to stop. */
  async start(): Promise<void> {
    const { dataDir, makesFolder, server } = this.#options;
    if (!makesFolder && statSync(dataDir, { throwIfNoEntry: false }) === undefined) return;
    try {
      this.#remove ??= announceServer(dataDir, server());
    } catch (error) {
      const { url } = server();
      this.#context.logger.warn(
        { err: error, component: this.name },
        `${dataDir} cannot be written to; commands in this folder need --url ${url}`,
      );
    }
  }

  async stop(): Promise<void> {
    this.remove();
  }

  /** Also for a process that exits at once. */
  remove(): void {
    try {
      this.#remove?.();
    } catch (error) {
      this.#context.logger.debug({ err: error, component: this.name }, "the file with the address was not removed");
    }
    this.#remove = null;
  }
}
