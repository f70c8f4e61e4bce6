import { ApiError, type Client, type ClientOptions, createClient, ServerUnreachable } from "@carillon/client";
import { namespaceNamePattern } from "@carillon/core";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "./command.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";
import { type Profile, profileNamed, readProfiles } from "./profiles.js";

const pattern = new RegExp(namespaceNamePattern);
const defaultUrl = "http://127.0.0.1:8023";

export function withServerAddress(command: Command): Command {
  const add = (flags: string, text: string): Command => command.addOption(new Option(flags, text).helpGroup("Server:"));
  add("--url <url>", `its address (default: CARILLON_URL, else the profile's, else ${defaultUrl})`);
  add(
    "--namespace <name>",
    "namespace of the command (default: CARILLON_NAMESPACE, else the profile's, else the server's own)",
  );
  return add("--profile <name>", "stored by carillon login (default: CARILLON_PROFILE, else the one in use)");
}

/** Where requests go, with which key and namespace. */
export interface ServerAddress {
  readonly url: string;
  readonly token?: string;
  readonly namespace?: string;
}

type Backoff = Pick<ClientOptions, "sleep" | "onWait">;

/** The client for this command line. */
export function clientOf(io: Io, invocation: Invocation, backoff: Backoff = announcedBackoff(io)): Client {
  const { url, ...caller } = serverAddress(io, invocation);
  return createClient({ url: serverUrl(url), ...backoff, ...caller });
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

/**
 * Flags win over the environment, the environment over the profile. The key and namespace of a profile are used only for the server of
 * that profile: its key is never sent to another address.
 */
export function serverAddress(io: Io, invocation: Invocation): ServerAddress {
  const asked = textOption(invocation, "profile");
  const profile = profileOf(io, asked);
  const variable = (name: string): string | undefined => io.env[name] || undefined;
  const fromProfile = asked === undefined ? undefined : profile?.url;
  const url = textOption(invocation, "url") ?? fromProfile ?? variable("CARILLON_URL") ?? profile?.url ?? defaultUrl;
  const own: Partial<Profile> = profile !== undefined && isSameServer(url, profile.url) ? profile : {};
  const first = (given: string | undefined, stored: string | undefined): string | undefined =>
    asked === undefined ? (given ?? stored) : (stored ?? given);
  const token = first(variable("CARILLON_TOKEN"), own.token);
  const namespace = textOption(invocation, "namespace") ?? first(variable("CARILLON_NAMESPACE"), own.namespace);
  return {
    url,
    ...(token !== undefined && { token }),
    ...(namespace !== undefined && { namespace: namespaceName(namespace) }),
  };
}

/** --profile over CARILLON_PROFILE over the one in use. */
function profileOf(io: Io, asked: string | undefined): Profile | undefined {
  const name = asked ?? (io.env["CARILLON_PROFILE"] || undefined);
  const stored = readProfiles(io.env);
  if (name !== undefined) return profileNamed(stored, name);
  return stored.current === null ? undefined : profileNamed(stored, stored.current);
}

function isSameServer(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}

function namespaceName(name: string): string {
  if (pattern.test(name)) return name;
  throw usageError(`${JSON.stringify(name)} is not the name of a namespace.`);
}

/** The nodes of a cluster, separated by commas. */
export function serverUrls({ url }: ServerAddress): string[] {
  return url.split(",").map((one) => serverUrl(one.trim()));
}

export function serverUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw usageError(`${JSON.stringify(url)} is not a server's address. An address looks like ${defaultUrl}.`);
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
