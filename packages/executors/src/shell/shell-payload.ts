import type { DurationMs } from "@carillon/core";
import { PayloadReader, secretName } from "@carillon/worker";

export interface ShellPayload {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Names of secrets by variable. */
  readonly secretEnv: Readonly<Record<string, string>>;
  readonly stdin: string | undefined;
  /** The runs whose ends started this one are its input, as JSON. */
  readonly hearsUpstream: boolean;
  readonly successCodes: readonly number[];
  /** Ends the run at once: trying again is useless. */
  readonly fatalCodes: readonly number[];
  readonly outputBytes: number;
  readonly isJson: boolean;
  readonly graceMs: DurationMs;
}

const mostArgs = 1_000;
const longestArg = 131_072;
const outputBytes = 65_536;
const mostOutputBytes = 1_048_576;
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What the executor sets, and what would make another program load other code. */
const ownVariable = /^(?:CARILLON_.*|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV)$/;

/** Reads what a job wants to run. Throws a PayloadError that names every fault. */
export function readShellPayload(payload: unknown): ShellPayload {
  const reader = new PayloadReader("shell", payload);
  const command = reader.list("command", mostArgs) ?? [];
  if (command.length === 0) reader.fault("command", 'is required: a list such as ["pg_dump", "--version"], no shell');
  if (command.some((arg) => arg.includes("\0") || arg.length > longestArg))
    reader.fault("command", `has an argument with a null character or more than ${longestArg} characters`);
  const secretEnv = variables(reader, "secret_env");
  for (const [name, secret] of Object.entries(secretEnv))
    if (!secretName.test(secret)) reader.fault("secret_env", `has no name of a secret at ${name}`);
  const read: ShellPayload = {
    command: command[0] ?? "",
    args: command.slice(1),
    cwd: reader.text("cwd", { most: 4_096, pattern: /^[^\0]+$/, words: "a path" }),
    env: variables(reader, "env"),
    secretEnv,
    stdin: reader.text("stdin"),
    hearsUpstream: hearsUpstream(reader),
    successCodes: codes(reader, "success_codes") ?? [0],
    fatalCodes: codes(reader, "fatal_codes") ?? [],
    outputBytes: reader.whole("max_output_bytes", 0, mostOutputBytes) ?? outputBytes,
    isJson: reader.oneOf("output", ["text", "json"]) === "json",
    graceMs: reader.duration("kill_grace", 60_000) ?? 5_000,
  };
  reader.end();
  return read;
}

function hearsUpstream(reader: PayloadReader): boolean {
  const value = reader.value("upstream");
  if (value !== undefined && typeof value !== "boolean") reader.fault("upstream", "must be true or false");
  if (value === true && reader.has("stdin")) reader.fault("upstream", "cannot go with stdin");
  return value === true;
}

function variables(reader: PayloadReader, name: string): Readonly<Record<string, string>> {
  const given = reader.texts(name);
  for (const [key, value] of Object.entries(given)) {
    if (!variable.test(key) || ownVariable.test(key)) reader.fault(name, `may not set ${JSON.stringify(key)}`);
    else if (value.includes("\0")) reader.fault(name, `has a null character at ${key}`);
  }
  return given;
}

function codes(reader: PayloadReader, name: string): readonly number[] | undefined {
  const value = reader.value(name);
  if (value === undefined) return undefined;
  const isList = Array.isArray(value) && value.length > 0 && value.length <= 256;
  if (isList && value.every((code) => Number.isInteger(code) && code >= 0 && code <= 255)) return value as number[];
  reader.fault(name, "must be a list of exit codes from 0 to 255");
  return undefined;
}
