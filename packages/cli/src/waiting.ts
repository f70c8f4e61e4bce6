import type { Client } from "@carillon/client";
import type { Job, Run, RunExplanation } from "@carillon/contract";
import { inParallel } from "./in-parallel.js";
import type { Invocation } from "./command.js";
import type { Io } from "./io.js";
import { outputForm, renderRows } from "./output.js";
import { type Column, renderTable } from "./table.js";

/** What several things wait for. */
export interface Waiting {
  readonly count: number;
  readonly code: string;
  readonly detail: string;
  /** One of them, to ask further about. */
  readonly such_as: string;
}

/** The oldest ones stand for the rest. */
const maxRuns = 200;
const maxJobs = 50;
const width = 8;

const columns: readonly Column<Waiting>[] = [
  { title: "COUNT", value: ({ count }) => String(count), align: "right" },
  { title: "WHY", value: ({ detail }) => detail },
  { title: "SUCH AS", value: (one) => one.such_as },
];

/** Everything that is due and does not run, by reason. */
export async function printWaiting(io: Io, invocation: Invocation, client: Client): Promise<void> {
  const [{ runs, next_page_token: more }, { jobs }] = await Promise.all([
    client.runs.list({ status: "queued,blocked,retrying", order_by: "created_at asc", page_size: maxRuns }),
    client.jobs.list({ status: "paused", page_size: maxJobs }),
  ]);
  const explained = await inParallel(runs, width, async (run) => ({ run, why: await client.runs.explain(run.id) }));
  const rows = [...byReason(explained), ...jobs.map(pausedJob)];
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderRows(rows, form));
  if (rows.length === 0) return io.info("carillon: nothing waits: no run that is due is kept, and no job is paused");
  await io.out(renderTable(columns, rows));
  if (more !== null) io.info(`carillon: of the ${maxRuns} oldest runs that wait`);
  io.info("carillon: more of one with: carillon why <id>");
}

interface Explained {
  readonly run: Run;
  readonly why: RunExplanation;
}

/** Most first. One that has begun or ended meanwhile waits no more. */
function byReason(explained: readonly Explained[]): Waiting[] {
  const groups = new Map<string, Waiting>();
  for (const { run, why } of explained) {
    const { code, detail, run_id: such_as } = why;
    if (code === "running" || code === "ended") continue;
    const reason = reasonOf(run, why);
    const count = (groups.get(reason)?.count ?? 0) + 1;
    groups.set(reason, { ...(groups.get(reason) ?? { code, detail, such_as }), count });
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

/** Runs with the same are one line; the oldest of them speaks for all. */
function reasonOf({ task, job_id: job }: Run, { code, facts }: RunExplanation): string {
  const named = ["queue", "scope", "key", "breaker"].map((name) => facts[name] ?? null);
  return JSON.stringify([code, task, code === "overlap" ? job : null, ...named]);
}

function pausedJob({ id, key, pause }: Job): Waiting {
  const until = pause?.until ?? null;
  const end = until === null ? "until it is resumed" : `until ${until}`;
  const reason = pause?.reason ?? null;
  const detail = `job ${key === null ? id : `@${key}`} is paused since ${pause?.at ?? "?"}, ${end}${reason === null ? "" : `: ${reason}`}`;
  return { count: 1, code: "paused", detail, such_as: id };
}
