import type { Step } from "../plan/step.js";

/** The channel of the nodes' hints to each other. */
const hintChannel = "carillon_hint";
/** What PostgreSQL begins a notification with. */
const notification = "A".charCodeAt(0);

interface Trap {
  readonly step: Step;
  readonly spring: () => void;
}

/** Sits between a node and the database: waits for one of its statements, and can keep hints from it. */
export class Wiretap {
  #trap: Trap | null = null;
  #isDeaf = false;

  /** For the proxy. */
  readonly filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    if (from === "client")
      return this.#trap !== null && chunk.includes(this.#trap.step.statement) ? this.#spring(chunk, this.#trap) : chunk;
    // Hints come on a connection of their own, so that what begins with one is nothing else.
    const isHint = this.#isDeaf && chunk[0] === notification && chunk.includes(hintChannel);
    return isHint ? Buffer.alloc(0) : chunk;
  };

  /** Whether hints are kept from the node, as a network or a pooler may lose them. */
  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf;
  }

  /** Calls `spring` at the step, before anything else passes, or after the limit. Resolves then. */
  async at(step: Step, spring: () => void, limitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const once = (): void => {
        clearTimeout(timer);
        this.#trap = null;
        spring();
        resolve();
      };
      const timer = setTimeout(once, limitMs);
      this.#trap = { step, spring: once };
    });
  }

  #spring(chunk: Buffer, { step, spring }: Trap): Buffer {
    spring();
    return step.when === "before" ? Buffer.alloc(0) : chunk;
  }
}
