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
