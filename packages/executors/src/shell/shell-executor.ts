import {
  type Executor,
  type ExecutorHost,
  NonRetryableError,
  PayloadReader,
  faultsOf,
  secretName,
} from "@carillon/worker";
import { runVariables, secretVariables } from "../run-environment.js";
import { upstreamScope } from "../templates.js";
import { type CommandEnd, OutputTail, runCommand } from "./run-command.js";

export interface ShellOptions {
  /** Variables of the worker's own environment that commands get. */
  readonly passEnv?: readonly string[];
  /** The working directory of a job that names none. */
  readonly cwd?: string;
}

const defaultEnv = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
/** Of a program that cannot be started; a retry would fail too. */
const finalCodes = new Set(["ENOENT", "EACCES", "ENOTDIR", "E2BIG"]);
/** Shorter secrets are not replaced in the output: they would match everywhere. */
const minHiddenLength = 6;

/** A command ended with a code that is not among its success codes. */
class CommandFailedError extends Error {
  override readonly name = "CommandFailedError";
}

/**
 * Runs a program with its arguments, without a shell. It gets only the variables that the worker passes on and those that the job
 * sets. Its output goes to the log of the run by lines; the end of its output is the output of the run.
 */
export function shellExecutor(host: ExecutorHost, options: ShellOptions = {}): Executor {
  return {
    name: "shell",
    check: (payload) => faultsOf(readShellPayload, payload),
    run: async (payload, context) => {
      const read = readShellPayload(payload);
      const secrets = await secretVariables(read.secretEnv, host.secrets);
      const stdin = read.readsUpstream ? JSON.stringify(upstreamScope(await context.upstream())) : read.stdin;
      const hide = hiding(Object.values(secrets));
      const stdout = new OutputTail(read.outputBytes, (line) => context.log.info(hide(line)));
      const stderr = new OutputTail(read.outputBytes, (line) => context.log.warn(hide(line), { stream: "stderr" }));
      const end = await started(read, {
        stdin,
        env: { ...passedEnv(host, options), ...read.env, ...secrets, ...runVariables(context) },
        cwd: read.cwd ?? options.cwd,
        signal: context.signal,
        timers: host.timers,
        onStdout: (chunk) => stdout.add(chunk),
        onStderr: (chunk) => stderr.add(chunk),
      });
      stdout.end();
      stderr.end();
      if (context.signal.aborted) throw context.signal.reason;
      return outputOf(read, end, { stdout, stderr, hide });
    },
  };
}

function passedEnv({ env }: ExecutorHost, { passEnv = defaultEnv }: ShellOptions): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passEnv) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

async function started(
  { command, args, graceMs }: ShellPayload,
  rest: Omit<Parameters<typeof runCommand>[0], "command" | "args" | "graceMs">,
): Promise<CommandEnd> {
  try {
    return await runCommand({ command, args, graceMs, ...rest });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!finalCodes.has(code)) throw error;
    const where = rest.cwd === undefined ? "" : ` in ${rest.cwd}`;
    throw new NonRetryableError(`${command} cannot be started${where} (${code}).`, { cause: error });
  }
}

interface CommandOutput {
  readonly stdout: OutputTail;
  readonly stderr: OutputTail;
  readonly hide: (text: string) => string;
}

function outputOf(read: ShellPayload, { code, signal }: CommandEnd, { stdout, stderr, hide }: CommandOutput): unknown {
  const [out, err] = [hide(stdout.text), hide(stderr.text)];
  if (code !== null && read.successCodes.includes(code)) {
    const cut = stdout.isCut || stderr.isCut ? { truncated: true } : {};
    return { exit_code: code, stdout: read.isJson ? parsed(out, stdout.isCut) : out, stderr: err, ...cut };
  }
  const lastOutput = (err.trim() === "" ? out : err).trim().slice(-500);
  const how = code === null ? `was killed by ${signal ?? "a signal"}` : `ended with code ${code}`;
  const message = `${read.command} ${how}${lastOutput === "" ? "" : `: ${lastOutput}`}`;
  if (code !== null && read.fatalCodes.includes(code)) throw new NonRetryableError(message);
  throw new CommandFailedError(message);
}

function parsed(text: string, isCut: boolean): unknown {
  if (isCut) throw new NonRetryableError("The command wrote more JSON than max_output_bytes allows.");
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandFailedError("The command did not write JSON.", { cause: error });
  }
}

function hiding(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= minHiddenLength);
  return (text) => long.reduce((hidden, secret) => hidden.replaceAll(secret, "***"), text);
}

const maxArgs = 1_000;
const maxArgLength = 131_072;
const defaultOutputBytes = 65_536;
const maxOutputBytes = 1_048_576;
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that the executor sets, and those by which a program loads other code. */
const reservedVariable = /^(?:CARILLON_.*|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV)$/;

type ShellPayload = ReturnType<typeof readShellPayload>;

/** Throws a PayloadError that names every fault. */
function readShellPayload(payload: unknown) {
  const reader = new PayloadReader("shell", payload);
  const command = reader.list("command", maxArgs) ?? [];
  if (command.length === 0) reader.fault("command", 'is required: a list such as ["pg_dump", "--version"], no shell');
  if (command.some((arg) => arg.includes("\0") || arg.length > maxArgLength))
    reader.fault("command", `has an argument with a null character or more than ${maxArgLength} characters`);
  const secretEnv = variables(reader, "secret_env");
  for (const [name, secret] of Object.entries(secretEnv))
    if (!secretName.test(secret)) reader.fault("secret_env", `must have the name of a secret at ${name}`);
  const read = {
    command: command[0] ?? "",
    args: command.slice(1),
    cwd: reader.text("cwd", { max: 4_096, pattern: /^[^\0]+$/, words: "a path" }),
    env: variables(reader, "env"),
    // Names of secrets by variable.
    secretEnv,
    stdin: reader.text("stdin"),
    // Its input are the upstream runs, as JSON.
    readsUpstream: readsUpstream(reader),
    successCodes: codes(reader, "success_codes") ?? [0],
    // They end the run without a retry.
    fatalCodes: codes(reader, "fatal_codes") ?? [],
    outputBytes: reader.whole("max_output_bytes", 0, maxOutputBytes) ?? defaultOutputBytes,
    isJson: reader.oneOf("output", ["text", "json"]) === "json",
    graceMs: reader.duration("kill_grace", 60_000) ?? 5_000,
  };
  reader.end();
  return read;
}

function readsUpstream(reader: PayloadReader): boolean {
  const value = reader.value("upstream");
  if (value !== undefined && typeof value !== "boolean") reader.fault("upstream", "must be true or false");
  if (value === true && reader.has("stdin")) reader.fault("upstream", "cannot be combined with stdin");
  return value === true;
}

function variables(reader: PayloadReader, name: string): Readonly<Record<string, string>> {
  const given = reader.texts(name);
  for (const [key, value] of Object.entries(given)) {
    if (!variable.test(key) || reservedVariable.test(key)) reader.fault(name, `may not set ${JSON.stringify(key)}`);
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
