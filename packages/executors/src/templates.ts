import { JsonTemplate, Template } from "@carillon/condition";
import { CarillonError, formatId } from "@carillon/core";
import { NonRetryableError, type PayloadReader, type TaskContext, type UpstreamRun } from "@carillon/worker";

/** What templates may name: `{payload.data.id}`, `{run.id}`, `{upstream.0.output.rows}`. */
export interface TemplateScope extends Readonly<Record<string, unknown>> {
  readonly payload: unknown;
  readonly run: Readonly<Record<string, string | number>>;
  /** The runs whose ends started this run; empty if no template names them. */
  readonly upstream: unknown;
}

interface TemplatePaths {
  readonly paths: readonly string[];
}

interface Renderable extends TemplatePaths {
  render(scope: TemplateScope): unknown;
}

const upstreamRoot = "upstream";
const options = { roots: ["payload", "run", upstreamRoot], maxLength: 262_144, maxRendered: 1_048_576 };

/** The run of a template that is checked when its job is created. */
const sampleRun = {
  id: formatId("run", "00000000-0000-0000-0000-000000000000"),
  job_id: "",
  task: "",
  queue: "",
  attempt: 1,
  scheduled_for: "1970-01-01T00:00:00.000Z",
};

/** The scope of a run. Its upstream runs are read only if a template names them or the caller needs them. */
export async function scopeOf(
  payload: unknown,
  context: TaskContext,
  { templates, needsUpstream = false }: { templates: Iterable<TemplatePaths | null>; needsUpstream?: boolean },
): Promise<TemplateScope> {
  const { runId, jobId, task, queue, attempt, scheduledFor } = context;
  const scheduled = new Date(scheduledFor).toISOString();
  const isNamed = needsUpstream || [...templates].some((template) => template?.paths.some(namesUpstream));
  const upstream = isNamed ? upstreamScope(await context.upstream()) : [];
  return { payload, upstream, run: { id: runId, job_id: jobId ?? "", task, queue, attempt, scheduled_for: scheduled } };
}

/** Upstream runs with the member names of the API. */
export function upstreamScope(runs: readonly UpstreamRun[]): readonly Readonly<Record<string, unknown>>[] {
  return runs.map((run) => ({
    run_id: run.runId,
    job_id: run.jobId,
    job_key: run.jobKey,
    status: run.status,
    reason: run.reason,
    finished_at: new Date(run.finishedAt).toISOString(),
    output: run.output,
    error: run.error,
  }));
}

function namesUpstream(path: string): boolean {
  return path === upstreamRoot || path.startsWith(`${upstreamRoot}.`);
}

/** Reads the templates of one payload. An error in a template, or a value that it lacks, is a fault of its field. */
export class TemplateReader {
  readonly #reader: PayloadReader;
  readonly #sample: Pick<TemplateScope, "payload" | "run">;

  constructor(reader: PayloadReader, payload: unknown) {
    this.#reader = reader;
    this.#sample = { payload, run: sampleRun };
  }

  text(name: string, source: string, reader = this.#reader): Template {
    return this.#checked(name, reader, () => new Template(source, options)) ?? new Template("");
  }

  /** Any JSON: every text in it is a template. */
  json(name: string, source: unknown): JsonTemplate {
    return this.#checked(name, this.#reader, () => new JsonTemplate(source, options)) ?? new JsonTemplate(null);
  }

  #checked<Made extends Renderable>(name: string, reader: PayloadReader, make: () => Made): Made | null {
    try {
      const made = make();
      made.render({ ...this.#sample, upstream: sampleUpstream(made.paths) });
      return made;
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      reader.fault(name, error.message);
      return null;
    }
  }
}

type Branch = Map<string, Branch>;

/** Upstream runs of a template that is checked when its job is created: with every member that the template names, because none is known yet. */
function sampleUpstream(paths: readonly string[]): unknown {
  const sample: Branch = new Map();
  for (const path of paths.filter(namesUpstream)) {
    let branch = sample;
    for (const name of path.split(".").slice(1)) {
      const next: Branch = branch.get(name) ?? new Map();
      branch.set(name, next);
      branch = next;
    }
  }
  return valueOf(sample);
}

function valueOf(branch: Branch): unknown {
  if (branch.size === 0) return "";
  return Object.fromEntries([...branch].map(([name, next]) => [name, valueOf(next)]));
}

/** Renders a template. A value that is missing now is missing in every attempt, so the error is final. */
export function rendered<Text>(template: { render(scope: TemplateScope): Text }, scope: TemplateScope): Text {
  try {
    return template.render(scope);
  } catch (error) {
    throw error instanceof CarillonError ? new NonRetryableError(error.message, { cause: error }) : error;
  }
}

/** The same data with every text changed, for places where some characters have a meaning. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]));
}
