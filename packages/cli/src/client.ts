import { isAbsolute, relative, sep } from "node:path";
import { ApiError, type Client, type ClientOptions, createClient, ServerUnreachable } from "@carillon/client";
import { present } from "@carillon/core";
import type { Invocation } from "./command.js";
import { Unanswered } from "./exit-codes.js";
import type { Io } from "./io.js";
import { type ServerAddress, serverAddress, serverUrl } from "./server-address.js";

type Backoff = Pick<ClientOptions, "sleep" | "onWait">;

/** The client for this command line. */
export async function clientOf(io: Io, invocation: Invocation, backoff?: Backoff): Promise<Client> {
  return clientFor(io, await serverAddress(io, invocation), backoff);
}

export function clientFor(io: Io, address: ServerAddress, backoff: Backoff = announcedBackoff(io)): Client {
  const { url, token, namespace } = address;
  return createClient({
    url: serverUrl(url),
    fetch: fetchFrom(io, address),
    ...backoff,
    ...present({ token, namespace }),
  });
}

/** `fetch` for the server of this command line: warns of the server of another folder, and an error says what named the address. */
export function fetchFrom(io: Io, { source, isGuess, url }: ServerAddress): typeof fetch {
  let isChecked = !isGuess;
  return async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      throw new Unanswered(source, error);
    });
    const folder = isChecked ? null : response.headers.get("carillon-folder");
    isChecked = true;
    if (folder !== null && !isWithin(io.cwd, decodeURI(folder)))
      io.info(`carillon: the server at ${url} is that of ${decodeURI(folder)}; this folder has none (carillon dev)`);
    return response;
  };
}

function isWithin(folder: string, parent: string): boolean {
  const way = relative(parent, folder);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Waits if the server asks the client to retry later. */
export function quietBackoff(io: Io): Backoff {
  return { sleep: (ms, signal) => io.sleep(ms, signal) };
}

/** The same, with a message for the user. */
export function announcedBackoff(io: Io): Backoff {
  return {
    ...quietBackoff(io),
    onWait: (ms, { code }) => io.info(`carillon: the server asks to retry in ${Math.ceil(ms / 1_000)} s (${code})`),
  };
}

/** The answer, or null if the server answers 404. */
export async function found<Thing>(request: Promise<Thing>): Promise<Thing | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

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

/** Calls `act` for each item, at most `width` at a time; the results are in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const turns = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of turns) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
