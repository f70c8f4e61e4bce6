import { readFileSync } from "node:fs";
import type { DoneFault } from "../judge/evidence.js";

const sampleEveryMs = 200;
/** Well below the silence that costs a worker its runs. */
const stallMs = 1_500;
/** Over so many looks a node's waits are added up. */
const samplesInWindow = 15;

/**
 * Notices that the machine had no time for this process, by its own lateness, or for a node, by what the kernel says of its waits.
 * A busy machine is no fault of the product: a try that is repeated after a stall has a cause.
 */
export class StallMonitor {
  readonly stalls: DoneFault[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #waits = new Map<number, number[]>();
  readonly #pids: () => readonly number[];
  readonly #begin = Date.now();
  #last = this.#begin;
  #lateMs = 0;

  constructor(pids: () => readonly number[]) {
    this.#pids = pids;
    this.#timer = setInterval(() => this.#sample(), sampleEveryMs);
  }

  /** The share of the time for which this process, which does little, had to wait. */
  get starvation(): number {
    return this.#lateMs / Math.max(1, this.#last - this.#begin);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const now = Date.now();
    this.#lateMs += Math.max(0, now - this.#last - sampleEveryMs);
    if (now - this.#last > stallMs || this.#nodeStalls()) this.#note(now);
    this.#last = now;
  }

  /** One stall goes on while there is no pause between two looks that see it. */
  #note(now: number): void {
    const before = this.stalls.at(-1);
    const from = Math.min(this.#last, now - stallMs);
    if (before === undefined || before.until < from) this.stalls.push({ kind: "stall", node: null, from, until: now });
    else this.stalls[this.stalls.length - 1] = { ...before, until: now };
  }

  #nodeStalls(): boolean {
    let isStalled = false;
    for (const pid of this.#pids()) {
      const waited = waitedMs(pid);
      if (waited === null) continue;
      const waits = this.#waits.get(pid) ?? [];
      waits.push(waited);
      if (waits.length > samplesInWindow) waits.shift();
      this.#waits.set(pid, waits);
      isStalled ||= waited - (waits[0] ?? waited) > stallMs;
    }
    return isStalled;
  }
}

/** How long a process was ready to run and did not, since its start; null where the system does not print. */
function waitedMs(pid: number): number | null {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return Number(waitedNs) / 1_000_000;
  } catch {
    return null;
  }
}
