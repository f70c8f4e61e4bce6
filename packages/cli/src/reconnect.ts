import { ApiError, ServerUnreachable } from "@carillon/client";
import type { Io } from "./io.js";

/** As long as a node, or the one that takes its place, may need to come back. */
const maxAwayMs = 60_000;
const PAUSE_MS = 1_000;

/** Lets a command that waits or watches outlive a restart of the server: what it waits for goes on meanwhile. */
export class Reconnect {
  readonly #io: Pick<Io, "info" | "now" | "sleep">;
  #since: number | null = null;
  #hasAnswered: boolean;

  /** A server that never answered is not away: it is not there. */
  constructor(io: Pick<Io, "info" | "now" | "sleep">, { hasAnswered }: { readonly hasAnswered: boolean }) {
    this.#io = io;
    this.#hasAnswered = hasAnswered;
  }

  /** Asks until there is an answer. Throws what the network said when the server was away for a minute. */
  async retryWhileAway<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        const answer = await question();
        this.#answered();
        return answer;
      } catch (error) {
        if (!isAway(error) || !this.#hasAnswered) throw error;
        this.#missed(error);
        await this.#io.sleep(PAUSE_MS);
      }
    }
  }

  #answered(): void {
    if (this.#since !== null) this.#io.info("carillon: the server answers again");
    this.#since = null;
    this.#hasAnswered = true;
  }

  #missed(error: Error): void {
    const now = this.#io.now();
    if (this.#since === null) {
      this.#io.info(`carillon: ${error.message} Asking again for up to ${maxAwayMs / 1_000} s.`);
      this.#since = now;
    }
    if (now - this.#since >= maxAwayMs) throw error;
  }
}

/** Nobody is there, or somebody who says that nothing can be served now: a node that stops, or a proxy before none. */
function isAway(error: unknown): error is ServerUnreachable | ApiError {
  if (error instanceof ServerUnreachable) return true;
  return error instanceof ApiError && error.status >= 502 && error.status <= 504;
}
