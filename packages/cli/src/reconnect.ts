import { ApiError, ServerUnreachable } from "@carillon/client";
import type { Io } from "./io.js";

/** The time that a node, or its replacement, may need to start. */
const maxAwayMs = 60_000;
const pauseMs = 1_000;

/** Lets a command that waits or watches survive a restart of the server: the runs go on meanwhile. */
export class Reconnect {
  readonly #io: Pick<Io, "info" | "now" | "sleep">;
  #since: number | null = null;
  #hasAnswered: boolean;

  /** A server that has never answered is an error at once. */
  constructor(io: Pick<Io, "info" | "now" | "sleep">, { hasAnswered }: { readonly hasAnswered: boolean }) {
    this.#io = io;
    this.#hasAnswered = hasAnswered;
  }

  /** Repeats the request until the server answers. Throws the network's error after a minute. */
  async retryWhileAway<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        const answer = await request();
        this.#answered();
        return answer;
      } catch (error) {
        if (!isAway(error) || !this.#hasAnswered) throw error;
        this.#missed(error);
        await this.#io.sleep(pauseMs);
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
      this.#io.info(`carillon: ${error.message} Retrying for up to ${maxAwayMs / 1_000} s.`);
      this.#since = now;
    }
    if (now - this.#since >= maxAwayMs) throw error;
  }
}

/** No server is there, or one that serves nothing now: a node that stops, or a proxy without a node. */
function isAway(error: unknown): error is ServerUnreachable | ApiError {
  if (error instanceof ServerUnreachable) return true;
  return error instanceof ApiError && error.status >= 502 && error.status <= 504;
}
