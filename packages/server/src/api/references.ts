import { anyNamePattern, keyPattern, limits, plainNameLength, plainNamePattern } from "@carillon/contract";
import { CarillonError, formatId, type IdPrefix, parseId } from "@carillon/core";
import type { JobRef } from "@carillon/engine";
import { found, notFound } from "./http/errors.js";
import type { ApiEngine } from "./http/handler.js";

// How addresses and filters name things. A text that cannot be a name or an id is answered like one that does not exist: 404.

const key = new RegExp(keyPattern);

/** A job by its id, or by @ and its key. */
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

const nameReader = (pattern: RegExp, maxLength: number) => (text: string) =>
  text.length <= maxLength && pattern.test(text) ? text : null;

/** A name of a queue, a task or a breaker; null for a text that cannot be one. */
export const readAnyName = nameReader(new RegExp(anyNamePattern), limits.nameLength);

/** A name of a calendar or a maintenance window; null for a text that cannot be one. */
export const readPlainName = nameReader(new RegExp(plainNamePattern), plainNameLength);

export function plainNameOrNotFound(text: string, kind: string): string {
  return found(readPlainName(text), `There is no ${kind} ${JSON.stringify(text)}.`);
}

interface JobFiltered {
  readonly job_id?: string;
}

/** The filter with the id of its job, if job_id is @ and a key. Other values are validated with the rest of the filter. */
export async function withJobId<Filter extends JobFiltered>(
  engine: Pick<ApiEngine, "jobs">,
  namespace: string,
  filter: Filter,
): Promise<Filter> {
  const { job_id: text } = filter;
  if (typeof text !== "string" || !text.startsWith("@")) return filter;
  return { ...filter, job_id: await jobIdOf(engine, namespace, text) };
}

/** The same for a body that has such a filter and is not validated yet. */
export async function withJobIdInFilter(
  engine: Pick<ApiEngine, "jobs">,
  namespace: string,
  body: unknown,
): Promise<unknown> {
  if (!isObject(body) || !isObject(body["filter"])) return body;
  return { ...body, filter: await withJobId(engine, namespace, body["filter"]) };
}

/** The id of a job. A job named by its id need not exist: its runs are kept longer. */
export async function jobIdOf(engine: Pick<ApiEngine, "jobs">, namespace: string, text: string): Promise<string> {
  const ref = jobRef(text);
  if ("id" in ref) return formatId("job", ref.id);
  const { id } = found(await engine.jobs.get(namespace, ref), `There is no job ${text}.`);
  return formatId("job", id);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
