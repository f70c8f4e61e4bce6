import { ServerUnreachable } from "@carillon/client";
import { namespaceNamePattern } from "@carillon/core";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "./command.js";
import { CliError, ExitCode, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";
import { type Profile, profileNamed, readProfiles } from "./profiles.js";

const pattern = new RegExp(namespaceNamePattern);
const defaultUrl = "http://127.0.0.1:8023";

export function withServerAddress(command: Command): Command {
  const add = (flags: string, text: string): Command => command.addOption(new Option(flags, text).helpGroup("Server:"));
  add(
    "--url <url>",
    `its address (default: CARILLON_URL, else the profile's, else CARILLON_PORT, else the server of this folder, else ${defaultUrl})`,
  );
  add(
    "--namespace <name>",
    "namespace of the command (default: CARILLON_NAMESPACE, else the profile's, else the server's own)",
  );
  return add("--profile <name>", "stored by carillon login (default: CARILLON_PROFILE, else the one in use)");
}

/** The key and namespace of requests. */
export interface Caller {
  readonly token?: string;
  readonly namespace?: string;
}

/** Where requests go, with which key and namespace. */
export interface ServerAddress extends Caller {
  readonly url: string;
  /** What named the address, to end the sentence "The address is …". */
  readonly source: string;
  /** Nothing named the server: it may be that of another folder. */
  readonly isGuess: boolean;
}

interface Named {
  readonly url: string;
  readonly source: string;
  readonly isGuess?: true;
}

/**
 * Flags win over the environment, the environment over the profile, the profile over CARILLON_PORT, and that over the server of this
 * folder, which is found by the file in its data folder. The key and namespace of a profile are used only for the server of that
 * profile: its key is never sent to another address.
 */
export async function serverAddress(io: Io, invocation: Invocation): Promise<ServerAddress> {
  const named = namedServer(io, invocation);
  const caller = callerOf(io, invocation);
  if (named !== null) return { isGuess: false, ...named, ...caller };
  const found = await serverOfFolder(io);
  if (found !== null) return { ...found, isGuess: false, ...caller };
  const source = `the default, because no server has a file in ${usualDataDir} of ${io.cwd} or a folder above it`;
  return { url: defaultUrl, source, isGuess: true, ...caller };
}

/** Its namespace does not depend on the server, unless a profile has both. */
export function callerOf(io: Io, invocation: Invocation): Caller {
  const { asked, profile } = profileOf(io, invocation);
  const url = namedServer(io, invocation)?.url;
  const own: Partial<Profile> =
    profile !== undefined && url !== undefined && isSameServer(url, profile.url) ? profile : {};
  const first = (given: string | undefined, stored: string | undefined): string | undefined =>
    asked === undefined ? (given ?? stored) : (stored ?? given);
  const token = first(variable(io, "CARILLON_TOKEN"), own.token);
  const namespace = textOption(invocation, "namespace") ?? first(variable(io, "CARILLON_NAMESPACE"), own.namespace);
  return {
    ...(token !== undefined && { token }),
    ...(namespace !== undefined && { namespace: namespaceName(namespace) }),
  };
}

/** The server that a flag, a variable or a profile names. */
function namedServer(io: Io, invocation: Invocation): Named | null {
  const { asked, name, profile } = profileOf(io, invocation);
  const flag = textOption(invocation, "url");
  if (flag !== undefined) return { url: flag, source: "from --url" };
  if (asked !== undefined && profile !== undefined) return { url: profile.url, source: `from the profile ${asked}` };
  const url = variable(io, "CARILLON_URL");
  if (url !== undefined) return { url, source: "from CARILLON_URL" };
  if (profile !== undefined) return { url: profile.url, source: `from the profile ${name}` };
  const port = variable(io, portVariable);
  return port === undefined || port === "0"
    ? null
    : { url: localUrl(io, port), source: `from ${portVariable}`, isGuess: true };
}

const portVariable = "CARILLON_PORT";
const usualDataDir = ".carillon";

const variable = ({ env }: Io, name: string): string | undefined => env[name] || undefined;

/** The address at which a server with these variables listens on this machine. */
function localUrl(io: Io, port: string): string {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new CliError(
      ExitCode.config,
      `${portVariable} is ${JSON.stringify(port)}; it must be a port from 0 to 65535.`,
    );
  const host = variable(io, "CARILLON_HOST") ?? "127.0.0.1";
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The newest server that runs in this folder. A server that ended without a word is never replaced by one of another folder. */
async function serverOfFolder({ cwd, env }: Io): Promise<Named | null> {
  const { answersAs, localServers } = await import("@carillon/worker");
  const servers = localServers({ cwd, env });
  if (servers === null) return null;
  const { alive, ended, dataDir } = servers;
  for (const server of alive)
    if (await answersAs(server)) return { url: server.url, source: `from the file of its server in ${dataDir}` };
  const [last] = [...alive, ...ended];
  if (last === undefined) return null;
  const { url, pid, started_at: startedAt, folder } = last;
  const state = alive.includes(last) ? "does not answer there" : "has ended";
  throw new ServerUnreachable(
    "network",
    `The server of ${folder} was ${url} (process ${pid}, started ${startedAt}, from ${dataDir}) and ${state}.`,
    null,
  );
}

interface ChosenProfile {
  /** The flag --profile, which wins over the environment. */
  readonly asked: string | undefined;
  readonly name: string | undefined;
  readonly profile: Profile | undefined;
}

/** --profile over CARILLON_PROFILE over the one in use. */
function profileOf(io: Io, invocation: Invocation): ChosenProfile {
  const asked = textOption(invocation, "profile");
  const stored = readProfiles(io.env);
  const name = asked ?? variable(io, "CARILLON_PROFILE") ?? stored.current ?? undefined;
  return { asked, name, profile: name === undefined ? undefined : profileNamed(stored, name) };
}

function isSameServer(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}

function namespaceName(name: string): string {
  if (pattern.test(name)) return name;
  throw usageError(`${JSON.stringify(name)} is not the name of a namespace.`);
}

/** The nodes of a cluster, separated by commas. */
export function serverUrls({ url }: Pick<ServerAddress, "url">): string[] {
  return url.split(",").map((one) => serverUrl(one.trim()));
}

export function serverUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw usageError(`${JSON.stringify(url)} is not a server's address. An address looks like ${defaultUrl}.`);
}
