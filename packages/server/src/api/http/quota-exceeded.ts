import { CarillonError } from "@carillon/core";

/** The caller has asked for too much, and is told when to come again. Nothing was done. */
export class QuotaExceeded extends CarillonError {
  readonly retryAfterSeconds: number;

  constructor(detail: string, retryAfterSeconds: number) {
    super("rate_limited", detail);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
