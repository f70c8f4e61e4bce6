import { readFileSync } from "node:fs";
import type { DoneFault } from "../judge/evidence.js";

const sampleEveryMs = 200;
/** Well below the timeout after which a worker loses its runs. */
const stallMs = 1_500;
/** The CPU waits of a node are summed over this many samples. */
const samplesInWindow = 15;

/**
 * Detects that the machine gave this process no CPU time, by late timers, or gave a node none, by the wait times that
 * the kernel reports. A busy machine is no defect of the product: a stall explains a repeated attempt.
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

  /** The share of the time in which this process, which needs little CPU, waited for it. */
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

  /** Consecutive samples that detect a stall extend the same stall. */
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

/** How long a process has waited for a CPU since its start; null if the system does not report it. */
function waitedMs(pid: number): number | null {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return Number(waitedNs) / 1_000_000;
  } catch {
    return null;
  }
}
