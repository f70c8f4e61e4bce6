import { formatId } from "@carillon/core";
import type { ApiEngine } from "./http/handler.js";
import { jobRef, notFound } from "./references.js";

interface OfJob {
  readonly job_id?: string;
}

/** A filter whose job_id may be @ and a key, by the id of that job. Anything else is left to those who read the filter. */
export async function withJobId<Filter extends OfJob>(
  engine: ApiEngine,
  namespace: string,
  filter: Filter,
): Promise<Filter> {
  const { job_id: text } = filter;
  if (typeof text !== "string" || !text.startsWith("@")) return filter;
  return { ...filter, job_id: await jobIdOf(engine, namespace, text) };
}

/** The same for a body that was not read yet, and has such a filter. */
export async function withJobIdInside(engine: ApiEngine, namespace: string, body: unknown): Promise<unknown> {
  if (!isObject(body) || !isObject(body["filter"])) return body;
  return { ...body, filter: await withJobId(engine, namespace, body["filter"]) };
}

/** The id that a job's name stands for. One that is named by its id need not be there: its runs may outlive it. */
export async function jobIdOf(engine: ApiEngine, namespace: string, text: string): Promise<string> {
  const ref = jobRef(text);
  if ("id" in ref) return formatId("job", ref.id);
  const job = await engine.getJob(namespace, ref);
  if (job === null) throw notFound(`There is no job ${text}.`);
  return formatId("job", job.id);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
