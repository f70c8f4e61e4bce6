import { ApiError, ServerUnreachable } from "@carillon/client";
import { CarillonError, errorCatalogue } from "@carillon/core";
import { CommanderError } from "commander";

/** What the exit code of `carillon` means; scripts rely on it. 78 is the system's code for a wrong configuration. */
export const ExitCode = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  conflict: 5,
  runFailed: 6,
  cancelled: 7,
  timedOut: 8,
  /** A dry run found something that it would change. */
  wouldChange: 9,
  config: 78,
} as const;

/** What each code means, for the help and the reference. */
export const exitCodeMeanings: Readonly<Record<keyof typeof ExitCode, string>> = {
  ok: "ok",
  failure: "failure",
  usage: "wrong usage, or a request that the server refuses as wrong",
  notFound: "not found",
  auth: "not allowed",
  conflict: "conflict with the current state",
  runFailed: "the awaited run failed",
  cancelled: "it was cancelled, or aborted",
  timedOut: "the awaited run did not end in time",
  wouldChange: "a dry run would change something",
  config: "wrong configuration",
};

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The code for an answer of the server that is an error. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 404 || status === 410) return ExitCode.notFound;
  if (status === 401 || status === 403) return ExitCode.auth;
  if (status === 409 || status === 412) return ExitCode.conflict;
  if (status === 400 || status === 413 || status === 415 || status === 422) return ExitCode.usage;
  return ExitCode.failure;
}

/** Ends a command with a message for people and a code for scripts. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A command line that cannot be executed as it is, or an argument that is wrong. */
export function usageError(message: string, options?: ErrorOptions): CliError {
  return new CliError(ExitCode.usage, message, options);
}

/** How a command that threw ends: the exit code, and the message, unless commander has printed it. */
interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string | null;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? ExitCode.ok : ExitCode.usage, message: null };
  }
  if (error instanceof CliError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof ApiError) return { exitCode: exitCodeOfStatus(error.status), message: refusal(error) };
  if (error instanceof ServerUnreachable) return { exitCode: ExitCode.failure, message: unreachable(error) };
  if (error instanceof CarillonError) return { exitCode: exitCodeOf(error), message: error.message };
  const outside = outsideFailure(error);
  if (outside !== null) return { exitCode: ExitCode.failure, message: outside };
  // Everything else is a bug: a report needs the stack.
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: ExitCode.failure, message: `This is a bug in carillon: ${detail}` };
}

/** The message of an error of the system or the database; null for other errors. */
function outsideFailure(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  if ("syscall" in error && /^E[A-Z0-9]+$/.test(error.code))
    return `${error.message}${systemHints.get(error.code) ?? ""}`;
  if (!("severity" in error) || !/^[0-9A-Z]{5}$/.test(error.code)) return null;
  const hint =
    error.code === "42501" ? "; the user of the database URL must own the schema, or be allowed to create it" : "";
  return `The database refused a statement: ${error.message} (SQLSTATE ${error.code})${hint}`;
}

const systemHints: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "; the disk is full"],
  ["EROFS", "; choose a place that can be written to"],
  ["EACCES", "; check who may read and write it"],
  ["EADDRNOTAVAIL", "; this machine has no such address: see --host"],
  ["EMFILE", "; raise the number of open files (ulimit -n)"],
]);

const exitCodeOf = ({ code }: CarillonError): ExitCode =>
  code === "config_invalid" ? ExitCode.config : exitCodeOfStatus(errorCatalogue[code].status);

/** The server's message, with each fault that the message does not contain already. */
function refusal({ message, code, errors }: ApiError): string {
  const faults = errors.map(({ pointer, detail }) => `${pointer}: ${detail}`);
  if (faults.length === 1 && message === faults[0]) return `${message} (${code})`;
  const isRepeated = faults.length > 1 && faults[0] !== undefined && message.endsWith(faults[0]);
  if (isRepeated) return [`${faults.length} faults (${code}):`, ...faults.map((fault) => `  - ${fault}`)].join("\n");
  return [`${message} (${code})`, ...faults.map((fault) => `  - ${fault}`)].join("\n");
}

const noTls = " It does not speak TLS: write http:// in place of https://.";

const networkHints: ReadonlyMap<unknown, string> = new Map([
  ["ECONNREFUSED", " Nothing listens there."],
  ["ENOTFOUND", " There is no host of this name."],
  ["EAI_AGAIN", " The name of the host cannot be resolved."],
  ["ERR_SSL_WRONG_VERSION_NUMBER", noTls],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", noTls],
]);

/** The code of the innermost error: fetch wraps the error of the network. */
function codeBelow(error: unknown): unknown {
  if (!(error instanceof Error)) return null;
  return "code" in error && typeof error.code === "string" ? error.code : codeBelow(error.cause);
}

/** The network's error, with what named the address. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  readonly source: string;

  constructor(source: string, cause: unknown) {
    super("The server did not answer.", { cause });
    this.source = source;
  }
}

function unreachable({ message, reason, cause }: ServerUnreachable): string {
  if (reason === "timeout") return message;
  const hint = networkHints.get(codeBelow(cause)) ?? "";
  if (hint.startsWith(noTls)) return `${message}${hint}`;
  const source = cause instanceof Unanswered ? ` The address is ${cause.source}.` : "";
  return `${message}${hint}${source} Is the server running? Start one with \`carillon dev\` (in a checkout: \`npm start\`), or give its address with --url or CARILLON_URL.`;
}
