export type EmbeddedPostgresErrorCode =
  | "embedded_platform_unsupported"
  | "embedded_binaries_missing"
  | "embedded_user_missing"
  | "embedded_setting_invalid"
  | "embedded_data_dir_not_writable"
  | "embedded_data_dir_unreachable"
  | "embedded_data_dir_in_use"
  | "embedded_data_dir_version"
  | "embedded_data_dir_incomplete"
  | "embedded_port_in_use"
  | "embedded_disk_full"
  | "embedded_start_failed"
  | "embedded_stop_failed";

/** An error that the user can act on: the code is stable, the message has the problem and the remedy. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}

const NOT_WRITABLE = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"]);

/** The error code of the system (ENOENT, EACCES …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Turns an error of the file system into one that the user can act on; other errors pass unchanged. */
export function asUserError(error: unknown, dataDir: string): unknown {
  if (error instanceof EmbeddedPostgresError) return error;
  const code = systemCode(error);
  const detail = error instanceof Error ? error.message : String(error);
  if (code === "ENOSPC" || code === "EDQUOT") return diskFull(dataDir, detail, error);
  if (code === undefined || !NOT_WRITABLE.has(code)) return error;
  return notWritable(dataDir, detail, error);
}

export function notWritable(dataDir: string, detail: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "embedded_data_dir_not_writable",
    `The data directory ${dataDir} cannot be used (${detail}). ` +
      "Make it a directory that belongs to the user who starts Carillon, or name another one with --data-dir.",
    { cause },
  );
}

export function diskFull(dataDir: string, detail: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "embedded_disk_full",
    `The disk that holds ${dataDir} is full (${detail}). Free some space there (a new database takes about 60 MB), ` +
      "or name a directory on another disk with --data-dir. Nothing that was stored is lost.",
    { cause },
  );
}
