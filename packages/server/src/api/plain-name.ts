import { plainNameLength, plainNamePattern } from "@carillon/contract";
import { notFound } from "./references.js";

const pattern = new RegExp(plainNamePattern);

/** A name of a calendar or a window, or null for what cannot be one. */
export function readName(text: string): string | null {
  return text.length <= plainNameLength && pattern.test(text) ? text : null;
}

/** What cannot be a name names nothing. */
export function nameOrNotFound(text: string, what: string): string {
  const name = readName(text);
  if (name === null) throw notFound(`There is no ${what} ${JSON.stringify(text)}.`);
  return name;
}
