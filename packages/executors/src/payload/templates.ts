import { CarillonError, formatId } from "@carillon/core";
import { JsonTemplate, Template } from "@carillon/condition";
import { NonRetryableError, type PayloadReader, type TaskContext } from "@carillon/worker";
import { namesUpstream, sampleUpstream, upstreamScope } from "./upstream-scope.js";

/** What templates may name: `{payload.data.id}`, `{run.id}`, `{upstream.0.output.rows}`. */
export interface TemplateScope extends Readonly<Record<string, unknown>> {
  readonly payload: unknown;
  readonly run: Readonly<Record<string, string | number>>;
  /** The runs whose ends started this one; none where no template names them. */
  readonly upstream: unknown;
}

interface TemplatePaths {
  readonly paths: readonly string[];
}

interface Renders extends TemplatePaths {
  render(scope: TemplateScope): unknown;
}

const options = { roots: ["payload", "run", "upstream"], maxLength: 262_144, maxRendered: 1_048_576 };

/** Stands for the run while a job is created. */
const sampleRun = {
  id: formatId("run", "00000000-0000-0000-0000-000000000000"),
  job_id: "",
  task: "",
  queue: "",
  attempt: 1,
  scheduled_for: "1970-01-01T00:00:00.000Z",
};

/** The runs before this one are asked for where a template names them, or somebody else needs them. */
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

/** Reads templates of one payload. What is wrong with one is a fault of its field, a value that is missing too. */
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

  #checked<Made extends Renders>(name: string, reader: PayloadReader, make: () => Made): Made | null {
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

/** Puts the values in; what cannot be put in now never can. */
export function rendered<Text>(template: { render(scope: TemplateScope): Text }, scope: TemplateScope): Text {
  try {
    return template.render(scope);
  } catch (error) {
    throw error instanceof CarillonError ? new NonRetryableError(error.message, { cause: error }) : error;
  }
}

/** The same data with every text changed, for places where some characters mean something. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]));
}
