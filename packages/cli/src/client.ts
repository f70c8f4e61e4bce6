import { ApiError, type Client, type ClientOptions, createClient } from "@carillon/client";
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
