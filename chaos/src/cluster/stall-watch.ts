import type { DoneFault } from "../judge/evidence.js";

const lookEveryMs = 200;
/** Well below the silence that costs a worker its runs. */
const stallMs = 1_500;

/**
 * Notices by its own lateness that the machine had no time for this process, and so perhaps none for the nodes either. A busy
 * machine is no fault of the product: a try that is repeated after a stall has a cause.
 */
export class StallWatch {
  readonly stalls: DoneFault[] = [];
  readonly #timer: NodeJS.Timeout;
  #last = Date.now();

  constructor() {
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = Date.now();
    if (now - this.#last > stallMs) this.stalls.push({ kind: "stall", node: null, from: this.#last, until: now });
    this.#last = now;
  }
}
