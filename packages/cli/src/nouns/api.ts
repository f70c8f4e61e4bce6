import { ServerUnreachable } from "@carillon/client";
import { Option } from "commander";
import { fetchFrom } from "../client.js";
import { serverAddress, serverUrl, withServerAddress } from "../server-address.js";
import { type CommandBody, flagOption, type Invocation, requiredArg, textOption } from "../command.js";
import { ExitCode, exitCodeOfStatus, usageError } from "../exit-codes.js";
import { readJsonArgument } from "../flags.js";
import type { Io } from "../io.js";
import { printNoUndo } from "../undo.js";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const timeoutMs = 120_000;

export const api: CommandBody = {
  define: (target) =>
    withServerAddress(target.argument("<path>", "of the API, as in /v1/jobs?page_size=1"))
      .addOption(new Option("-X, --method <method>", "default: GET, or POST with --data").choices(methods))
      .option("-d, --data <json>", "the body; @file reads a file, - standard input")
      .option("-H, --header <line>", "one more header, as in 'If-Match: \"v7\"'; several times", headerLine)
      .option("-i, --include", "print the status and headers of the answer on standard error"),
  notes: `
Sends one request, with the key and namespace of the profile, and prints the body of the answer unchanged. The exit code reports the
status. All operations: carillon openapi, or /docs of the server.`,
  examples: [
    "carillon api /v1/jobs?page_size=1",
    `carillon api /v1/jobs -d '{"task":"echo"}'`,
    `carillon api -X PATCH /v1/queues/default -d '{"order":"fifo"}' -i`,
  ],
  async run(io, invocation) {
    const { method, url, init, send } = await requestOf(io, invocation);
    const response = await send(url, init).catch((error: unknown) => {
      throw new ServerUnreachable("network", `${new URL(url).origin} cannot be reached.`, error);
    });
    if (flagOption(invocation, "include")) {
      io.info(`HTTP ${response.status} ${response.statusText}`);
      for (const [name, value] of response.headers) io.info(`${name}: ${value}`);
    }
    const body = await response.text();
    if (body !== "") await io.out(body.endsWith("\n") ? body : `${body}\n`);
    if (!response.ok) {
      io.info(`carillon: The server answered ${method} ${new URL(url).pathname} with status ${response.status}.`);
      return exitCodeOfStatus(response.status);
    }
    if (method !== "GET") printNoUndo(io, "sent", "only another request can undo it");
    return ExitCode.ok;
  },
};

async function requestOf(io: Io, invocation: Invocation) {
  const address = await serverAddress(io, invocation);
  const { url, token, namespace } = address;
  const data = textOption(invocation, "data");
  const method = textOption(invocation, "method") ?? (data === undefined ? "GET" : "POST");
  const body = data === undefined ? undefined : JSON.stringify(await readJsonArgument(io, data, "--data"));
  const path = requiredArg(invocation, 0);
  if (!path.startsWith("/")) throw usageError(`The path ${JSON.stringify(path)} must begin with /, as in /v1/jobs.`);
  return {
    method,
    send: fetchFrom(io, address),
    url: `${serverUrl(url).replace(/\/+$/, "")}${path}`,
    init: {
      method,
      headers: {
        accept: "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(namespace !== undefined && { "carillon-namespace": namespace }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(invocation.options["header"] as Record<string, string> | undefined),
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(timeoutMs),
    },
  };
}

function headerLine(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw usageError(`--header ${JSON.stringify(text)}: A header looks like 'Name: value'.`);
  return { ...before, [name.toLowerCase()]: value };
}
