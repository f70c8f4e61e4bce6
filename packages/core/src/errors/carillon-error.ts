import type { ErrorCode } from "./catalogue.js";

/** One problem inside a larger input: where (a JSON pointer), which, and what would be right. */
export interface ErrorItem {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** An error that the user can act on. Its code is in the catalogue; anything else that is thrown is a bug. */
export class CarillonError extends Error {
  override readonly name = "CarillonError";
  readonly code: ErrorCode;
  readonly items: readonly ErrorItem[];

  constructor(code: ErrorCode, message: string, options: { items?: readonly ErrorItem[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.items = options.items ?? [];
  }
}
