import { type Executor, type ExecutorHost, faultsOf, NonRetryableError, type TaskContext } from "@carillon/worker";
import { upstreamScope } from "../payload/upstream-scope.js";
import { OutputTail } from "./output-tail.js";
import { type CommandEnd, runCommand } from "./process-group.js";
import { readShellPayload, type ShellPayload } from "./shell-payload.js";

export interface ShellOptions {
  /** Variables of the worker's own environment that commands are given. */
  readonly passEnv?: readonly string[];
  /** Where commands run when the job says nothing. */
  readonly cwd?: string;
}

const usualEnv = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];
const neverStarts = new Set(["ENOENT", "EACCES", "ENOTDIR", "E2BIG"]);
/** Shorter secrets are not looked for in the output: they would be found everywhere. */
const shortestHidden = 6;

/** A command ended with a code that is no success. */
class CommandFailedError extends Error {
  override readonly name = "CommandFailedError";
}

/**
 * Runs a program with its arguments, without a shell. It is given only variables that the worker passes on and those that the
 * job sets. Its output goes to the run's log line by line; the end of it is the run's output.
 */
export function shellExecutor(host: ExecutorHost, options: ShellOptions = {}): Executor {
  return {
    name: "shell",
    check: (payload) => faultsOf(readShellPayload, payload),
    run: async (payload, context) => {
      const read = readShellPayload(payload);
      const secrets = await secretsOf(read, host);
      const stdin = read.hearsUpstream ? JSON.stringify(upstreamScope(await context.upstream())) : read.stdin;
      const hide = hiding(Object.values(secrets));
      const stdout = new OutputTail(read.outputBytes, (line) => context.log.info(hide(line)));
      const stderr = new OutputTail(read.outputBytes, (line) => context.log.warn(hide(line), { stream: "stderr" }));
      const end = await started(read, {
        stdin,
        env: { ...passedEnv(host, options), ...read.env, ...secrets, ...ownEnv(context) },
        cwd: read.cwd ?? options.cwd,
        signal: context.signal,
        timers: host.timers,
        onStdout: (chunk) => stdout.add(chunk),
        onStderr: (chunk) => stderr.add(chunk),
      });
      stdout.end();
      stderr.end();
      if (context.signal.aborted) throw context.signal.reason;
      return judged(read, end, { stdout, stderr, hide });
    },
  };
}

async function secretsOf({ secretEnv }: ShellPayload, { secrets }: ExecutorHost): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, secret] of Object.entries(secretEnv)) {
    const value = await secrets.find(secret);
    if (value === undefined) throw new NonRetryableError(`this worker has no secret ${JSON.stringify(secret)}`);
    found[name] = value;
  }
  return found;
}

function passedEnv({ env }: ExecutorHost, { passEnv = usualEnv }: ShellOptions): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passEnv) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/** So that a command can do a thing once, and a store can refuse a late one. */
function ownEnv({ runId, attempt, fence, idempotencyKey }: TaskContext): Record<string, string> {
  return {
    CARILLON_RUN_ID: runId,
    CARILLON_ATTEMPT: String(attempt),
    CARILLON_FENCE: String(fence),
    CARILLON_IDEMPOTENCY_KEY: idempotencyKey,
  };
}

async function started(
  { command, args, graceMs }: ShellPayload,
  rest: Omit<Parameters<typeof runCommand>[0], "command" | "args" | "graceMs">,
): Promise<CommandEnd> {
  try {
    return await runCommand({ command, args, graceMs, ...rest });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!neverStarts.has(code)) throw error;
    const where = rest.cwd === undefined ? "" : ` in ${rest.cwd}`;
    throw new NonRetryableError(`${command} cannot be started${where} (${code})`, { cause: error });
  }
}

interface Written {
  readonly stdout: OutputTail;
  readonly stderr: OutputTail;
  readonly hide: (text: string) => string;
}

function judged(read: ShellPayload, { code, signal }: CommandEnd, { stdout, stderr, hide }: Written): unknown {
  const [out, err] = [hide(stdout.text), hide(stderr.text)];
  if (code !== null && read.successCodes.includes(code)) {
    const cut = stdout.isCut || stderr.isCut ? { truncated: true } : {};
    return { exit_code: code, stdout: read.isJson ? parsed(out, stdout.isCut) : out, stderr: err, ...cut };
  }
  const lastWords = (err.trim() === "" ? out : err).trim().slice(-500);
  const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with code ${code}`;
  const message = `${read.command} ${how}${lastWords === "" ? "" : `: ${lastWords}`}`;
  if (code !== null && read.fatalCodes.includes(code)) throw new NonRetryableError(message);
  throw new CommandFailedError(message);
}

function parsed(text: string, isCut: boolean): unknown {
  if (isCut) throw new NonRetryableError("the command wrote more JSON than max_output_bytes allows");
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandFailedError("the command did not write JSON", { cause: error });
  }
}

function hiding(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= shortestHidden);
  return (text) => long.reduce((hidden, secret) => hidden.replaceAll(secret, "***"), text);
}
