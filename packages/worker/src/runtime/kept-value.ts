import { noteLimits } from "@carillon/core";
import { NonRetryableError } from "./errors.js";

/** A value as it is kept. Another try would give the same: what cannot be kept is no matter of trying again. */
export function keptJson(what: string, value: unknown): string {
  const text: string | undefined = JSON.stringify(value === undefined ? null : value);
  if (text === undefined) throw new NonRetryableError(`${what} must be JSON, not a ${typeof value}`);
  const bytes = Buffer.byteLength(text);
  if (bytes > noteLimits.valueBytes) {
    throw new NonRetryableError(
      `${what} has ${bytes} bytes as JSON, and ${noteLimits.valueBytes} is the most: keep it elsewhere and save where it is`,
    );
  }
  return text;
}

export function checkName(what: string, name: string): void {
  if (name.length >= 1 && name.length <= noteLimits.nameLength) return;
  throw new NonRetryableError(`${what} has 1 to ${noteLimits.nameLength} characters, not ${name.length}`);
}
