import { keyPattern } from "@carillon/contract";
import { CarillonError, parseId, type IdPrefix } from "@carillon/core";
import type { JobRef } from "@carillon/engine";

const key = new RegExp(keyPattern);

/** A job by its id, or by @ and its key. What cannot name a job names none: 404, as for one that is not there. */
export function jobRef(text: string): JobRef {
  if (!text.startsWith("@")) return { id: idOrNotFound("job", text) };
  if (!key.test(text.slice(1)))
    throw notFound(
      `There is no job ${JSON.stringify(text)}: a key is 1 to 200 letters, digits, dots, dashes and underscores.`,
    );
  return { key: text.slice(1) };
}

export function idOrNotFound(prefix: IdPrefix, text: string): string {
  try {
    return parseId(prefix, text);
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    const byKey = prefix === "job" && key.test(text) ? `, or @ and a key: @${text}` : "";
    throw notFound(`${error.message}${byKey}`);
  }
}

export function notFound(detail: string): CarillonError {
  return new CarillonError("not_found", detail);
}
