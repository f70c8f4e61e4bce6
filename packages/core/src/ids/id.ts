import { CarillonError } from "../errors/carillon-error.js";
import { base32OfUuid, uuidOfBase32 } from "./base32.js";
import { canonicalUuid } from "./uuid.js";

/** What has ids, by prefix. The words are used in messages. */
const kinds = {
  job: "a job",
  run: "a run",
  wrk: "a worker",
  node: "a node",
  op: "an operation",
  bkf: "a backfill",
  cal: "a calendar",
  win: "a maintenance window",
  whk: "a webhook endpoint",
  key: "an API key",
  aud: "an audit event",
  evt: "an event",
  req: "a request",
} as const;

export type IdPrefix = keyof typeof kinds;

declare const kind: unique symbol;

/** A canonical UUID (lower case, with dashes), as PostgreSQL prints it, known to name one kind of thing. */
export type Id<Prefix extends IdPrefix> = string & { readonly [kind]: Prefix };

export type JobId = Id<"job">;
export type RunId = Id<"run">;
export type WorkerId = Id<"wrk">;
export type NodeId = Id<"node">;

/** The wire form: prefix, underscore, 26 characters that sort as the UUID does. */
export function formatId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${base32OfUuid(uuid)}`;
}

/** The same for people: what is no UUID is shown as it is. */
export function shownId(prefix: IdPrefix, id: string): string {
  const uuid = canonicalUuid(id);
  return uuid === null ? id : formatId(prefix, uuid);
}

/** Reads the wire form, or a bare UUID, in any case. */
export function parseId<Prefix extends IdPrefix>(prefix: Prefix, text: string): Id<Prefix> {
  const lower = text.length <= 64 ? text.toLowerCase() : "";
  const uuid = lower.startsWith(`${prefix}_`) ? uuidOfBase32(lower.slice(prefix.length + 1)) : canonicalUuid(lower);
  if (uuid === null) throw refusal(prefix, text);
  return uuid as Id<Prefix>;
}

function refusal(prefix: IdPrefix, text: string): CarillonError {
  const shown = JSON.stringify(text.length <= 64 ? text : `${text.slice(0, 60)}…`);
  const right = `the id of ${kinds[prefix]} is ${prefix}_ and 26 letters and digits, or a UUID`;
  const other = Object.entries(kinds).find(([name]) => name !== prefix && text.toLowerCase().startsWith(`${name}_`));
  const wrong = other === undefined ? `${shown} is not an id` : `${shown} is the id of ${other[1]}`;
  return new CarillonError("id_invalid", `${wrong}; ${right}`);
}
