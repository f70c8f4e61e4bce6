import type { Run } from "@carillon/contract";
import type { Io } from "./io.js";

/** Somebody who waits is told why after so long; before that it is likely to begin. */
const SAID_AFTER_MS = 2_000;

/** Says, once for each reason, why a run that is waited for does not run. */
export class WaitReasons {
  readonly #io: Pick<Io, "talk" | "now">;
  readonly #since: number;
  #said = "";

  constructor(io: Pick<Io, "talk" | "now">) {
    this.#io = io;
    this.#since = io.now();
  }

  see({ id, waiting_on: reason }: Pick<Run, "id" | "waiting_on">): void {
    if (!reason || reason.code === this.#said || this.#io.now() - this.#since < SAID_AFTER_MS) return;
    this.#said = reason.code;
    this.#io.talk(`carillon: ${id} waits: ${reason.detail}`);
  }
}

interface Awaited {
  readonly id: string;
  readonly status: string;
  readonly waiting_on?: Run["waiting_on"];
}

/** How a run, or a job, stands that was not over in time. */
export function notOver({ id, status, waiting_on: reason }: Awaited, limitMs: number): string {
  const why = reason ? `: ${reason.detail}` : "";
  return `${id} is ${status} after ${limitMs / 1_000} s${why}. It goes on without us; look again with: carillon why ${id}`;
}
