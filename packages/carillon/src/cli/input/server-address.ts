import { type Client, createClient } from "@carillon/client";
import { namespaceNamePattern } from "@carillon/contract";
import type { Command } from "commander";
import { CliError } from "../cli-error.js";
import { type Invocation, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import type { Io } from "../io.js";

const pattern = new RegExp(namespaceNamePattern);
const DEFAULT_URL = "http://127.0.0.1:8023";

export function withServerAddress(command: Command): Command {
  return command
    .option("--url <url>", `where the server is (default: CARILLON_URL, else ${DEFAULT_URL})`)
    .option("--namespace <name>", "whose things it is about (default: CARILLON_NAMESPACE, else the server's own)");
}

/** The client for this command line: --url over CARILLON_URL over the default. */
export function clientOf(io: Io, invocation: Invocation): Client {
  const namespace = namespaceOption(io, invocation);
  return createClient({
    url: serverUrl(addressText(io, invocation)),
    sleep: (ms) => io.sleep(ms),
    ...(namespace !== undefined && { namespace }),
  });
}

/** --namespace over CARILLON_NAMESPACE; undefined for the server's own. */
export function namespaceOption(io: Io, invocation: Invocation): string | undefined {
  const name = textOption(invocation, "namespace") ?? (io.env["CARILLON_NAMESPACE"] || undefined);
  if (name === undefined || pattern.test(name)) return name;
  throw new CliError(ExitCode.usage, `${JSON.stringify(name)} is not a name of a namespace`);
}

/** The nodes of a cluster, separated by commas. */
export function serverUrls(io: Io, invocation: Invocation): string[] {
  return addressText(io, invocation)
    .split(",")
    .map((url) => serverUrl(url.trim()));
}

function addressText(io: Io, invocation: Invocation): string {
  return textOption(invocation, "url") ?? (io.env["CARILLON_URL"] || DEFAULT_URL);
}

function serverUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new CliError(
    ExitCode.usage,
    `${JSON.stringify(url)} is not a server's address; it must look like ${DEFAULT_URL}`,
  );
}
