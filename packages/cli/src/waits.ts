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

/** How something stands that is waited for. */
export interface Standing {
  readonly id: string;
  readonly status: string;
  readonly waiting_on?: Run["waiting_on"];
}

/** Said to somebody who stops waiting: what they waited for does not stop with them. */
export const goesOn = (id: string): string => `carillon: ${id} ${withoutUs(id)}`;

function withoutUs(id: string): string {
  const [again, end] = id.startsWith("job_") ? ["why", "job cancel"] : ["run watch", "run cancel"];
  return `goes on without us; look again with: carillon ${again} ${id}; end it with: carillon ${end} ${id}`;
}

/** How a run, or a job, stands that was not over in time. */
export function notOver({ id, status, waiting_on: reason }: Standing, limitMs: number): string {
  const why = reason ? `: ${reason.detail}` : "";
  return `${id} is ${status} after ${limitMs / 1_000} s${why}; it ${withoutUs(id)}`;
}
