import type { Step } from "../plan/step.js";

/** The channel of the nodes' hints to each other. */
const hintChannel = "carillon_hint";
/** What PostgreSQL begins a notification with. */
const notification = "A".charCodeAt(0);

interface PendingStep {
  readonly step: Step;
  readonly action: () => void;
}

/** Sits between a node and the database: waits for one of its statements, and can keep hints from it. */
export class WireFilter {
  #pending: PendingStep | null = null;
  #dropsNotifications = false;

  /** For the proxy. */
  readonly filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    if (from === "client")
      return this.#pending !== null && chunk.includes(this.#pending.step.statement)
        ? this.#action(chunk, this.#pending)
        : chunk;
    // Hints come on a connection of their own, so that what begins with one is nothing else.
    const isHint = this.#dropsNotifications && chunk[0] === notification && chunk.includes(hintChannel);
    return isHint ? Buffer.alloc(0) : chunk;
  };

  /** Whether hints are kept from the node, as a network or a pooler may lose them. */
  set dropsNotifications(dropsNotifications: boolean) {
    this.#dropsNotifications = dropsNotifications;
  }

  /** Calls `action` at the step, before anything else passes, or after the limit. Resolves then. */
  async at(step: Step, action: () => void, limitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const once = (): void => {
        clearTimeout(timer);
        this.#pending = null;
        action();
        resolve();
      };
      const timer = setTimeout(once, limitMs);
      this.#pending = { step, action: once };
    });
  }

  #action(chunk: Buffer, { step, action }: PendingStep): Buffer {
    action();
    return step.when === "before" ? Buffer.alloc(0) : chunk;
  }
}
