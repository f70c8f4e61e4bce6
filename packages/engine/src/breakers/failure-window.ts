import type { DurationMs } from "@carillon/core";

const parts = 10;

interface Part {
  number: number;
  calls: number;
  failures: number;
}

/** How many of the calls of the last while failed, to a tenth of it. */
export class FailureWindow {
  readonly #partMs: DurationMs;
  readonly #parts: Part[] = [];

  constructor(windowMs: DurationMs) {
    this.#partMs = windowMs / parts;
  }

  add(isFailure: boolean, now: DurationMs): void {
    const number = Math.floor(now / this.#partMs);
    let last = this.#parts.at(-1);
    if (last?.number !== number) this.#parts.push((last = { number, calls: 0, failures: 0 }));
    last.calls++;
    if (isFailure) last.failures++;
    while ((this.#parts[0]?.number ?? number) <= number - parts) this.#parts.shift();
  }

  get counts(): { calls: number; failures: number } {
    const sum = { calls: 0, failures: 0 };
    for (const { calls, failures } of this.#parts) {
      sum.calls += calls;
      sum.failures += failures;
    }
    return sum;
  }
}
