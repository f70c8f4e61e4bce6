import { createRequire } from "node:module";
import { join } from "node:path";
import type { Block } from "./blocks.js";
import { type Project, root } from "./project.js";

/**
 * Sends a block of JSON to the server as what it is: a job, a schedule, the payload of an executor. The note `as` says what; a
 * document with a task is a job, and so is its setup. `as: answer` is only read. Answers what is wrong, or null.
 */
export async function sendJson(
  project: Project,
  { text, directives }: Block,
  as = directives.as,
): Promise<string | null> {
  if (directives.setup !== undefined) await create(project, JSON.parse(directives.setup) as object);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return `no JSON: ${(error as Error).message}`;
  }
  if (as === "answer") return null;
  const job = jobOf(given as Record<string, unknown>, as);
  if (job === null) return 'say what it is: <!-- as: job -->, "schedule", "payload of …", "answer"';
  const response = await create(project, job);
  return response.ok ? null : `refused: ${response.status} ${await response.text()}`;
}

function create({ url }: Project, job: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/v1/jobs`, { method: "POST", headers, body: JSON.stringify(job) });
}

function jobOf(given: Record<string, unknown>, as: string | undefined): object | null {
  const [, task] = /^payload of ([\w-]+)$/.exec(as ?? "") ?? [];
  // Far away: its payload is checked when it is created, and it is not run.
  if (task !== undefined) return { task, payload: given, schedule: { at: "2100-01-01T00:00:00Z" } };
  if (as === "schedule") return { task: "echo", schedule: given };
  return as === "job" || "task" in given ? given : null;
}

/** YAML is only read: nothing of ours takes it. Answers what is wrong, or null. */
export function readYaml(text: string): string | null {
  const tools = createRequire(join(root, "tools/package.json"));
  const { parse } = tools("yaml") as { parse: (text: string) => unknown };
  try {
    parse(text);
    return null;
  } catch (error) {
    return `no YAML: ${(error as Error).message}`;
  }
}
