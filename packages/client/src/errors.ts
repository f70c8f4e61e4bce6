import type { Finding, Problem } from "@carillon/contract";

/** The codes that this version knows; a newer server may send others. */
export type ApiErrorCode = Problem["code"] | "unexpected_answer" | (string & {});

/** The server answered, and said no. Decide by `code`; `message` is for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** From the server's catalogue; "unexpected_answer" if something on the way answered in the server's place. */
  readonly code: ApiErrorCode;
  readonly errors: readonly Finding[];
  readonly requestId: string | null;
  readonly retryable: boolean;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | null;

  constructor(facts: {
    readonly status: number;
    readonly code: ApiError["code"];
    readonly detail: string;
    readonly errors: readonly Finding[];
    readonly requestId: string | null;
    readonly retryable: boolean;
    readonly retryAfterMs: number | null;
  }) {
    super(facts.detail);
    this.status = facts.status;
    this.code = facts.code;
    this.errors = facts.errors;
    this.requestId = facts.requestId;
    this.retryable = facts.retryable;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** No answer: whether a request that writes took effect is unknown. */
export class ServerUnreachable extends Error {
  override readonly name = "ServerUnreachable";
  readonly reason: "network" | "timeout";

  constructor(reason: "network" | "timeout", message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
