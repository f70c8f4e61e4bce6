import type { ErrorCode } from "./catalogue.js";

/** One problem in a larger input: its place (a JSON pointer), its code, and a sentence with the remedy. */
export interface ErrorItem {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** An error that the user can act on, with a code of the catalogue. Any other thrown error is a bug. */
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
