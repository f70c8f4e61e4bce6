import type { Client } from "@carillon/client";
import type { Job, Run, RunExplanation } from "@carillon/contract";
import { clientOf, inParallel } from "../client.js";
import type { CommandBody, Invocation } from "../command.js";
import { explainJob, explainRun } from "../explain.js";
import type { Io } from "../io.js";
import { jobName } from "../job-flags.js";
import { withServerAddress } from "../server-address.js";
import { type Column, outputForm, renderRows, renderTable, withOutputForm } from "../output.js";

export const why: CommandBody = {
  define: (target) =>
    withServerAddress(
      withOutputForm(
        target.argument("[what]", "a job by its id or key, or a run by its id; without it: all that waits"),
      ),
    ),
  notes: `
Of a job: whether it fires, what its newest run waits for or how it ended, and which occurrences were skipped lately. Of a run: the first
thing that it waits for, and what that waits for. Without an argument: the due runs that do not run, by reason, and the paused jobs.`,
  examples: ["carillon why @nightly-report", "carillon why run_01k9zq3v5e0r8t2b7n4m6x1c9d", "carillon why"],
  async run(io, invocation) {
    const client = await clientOf(io, invocation);
    const [what] = invocation.args;
    if (what === undefined) return printWaiting(io, invocation, client);
    if (what.startsWith("run_")) return explainRun(io, invocation, client, what);
    return explainJob(io, invocation, client, jobName(what));
  },
};

/** Runs or jobs that wait for the same reason. */
interface WaitReason {
  readonly count: number;
  readonly code: string;
  readonly detail: string;
  /** One of them, for the next question. */
  readonly such_as: string;
}

/** Only the oldest ones are explained. */
const maxRuns = 200;
const maxJobs = 50;
const requestsAtATime = 8;

const columns: readonly Column<WaitReason>[] = [
  { title: "COUNT", value: ({ count }) => String(count), align: "right" },
  { title: "WHY", value: ({ detail }) => detail },
  { title: "SUCH AS", value: (one) => one.such_as },
];

/** All runs that are due and do not run, by reason, and all paused jobs. */
async function printWaiting(io: Io, invocation: Invocation, client: Client): Promise<void> {
  const [{ runs, next_page_token: more }, { jobs }] = await Promise.all([
    client.runs.list({ status: "queued,blocked,retrying", order_by: "created_at asc", page_size: maxRuns }),
    client.jobs.list({ status: "paused", page_size: maxJobs }),
  ]);
  const explained = await inParallel(runs, requestsAtATime, async (run) => ({
    run,
    explanation: await client.runs.explain(run.id),
  }));
  const rows = [...groupByReason(explained), ...jobs.map(pausedJob)];
  const form = outputForm(invocation);
  if (form !== "table") return io.out(renderRows(rows, form));
  if (rows.length === 0) return io.info("carillon: nothing waits: every due run runs, and no job is paused");
  await io.out(renderTable(columns, rows));
  if (more !== null) io.info(`carillon: of the ${maxRuns} oldest runs that wait`);
  io.info("carillon: more about one with: carillon why <id>");
}

interface Explained {
  readonly run: Run;
  readonly explanation: RunExplanation;
}

/** The largest group first. A run that has started or ended meanwhile is left out. */
function groupByReason(explained: readonly Explained[]): WaitReason[] {
  const groups = new Map<string, WaitReason>();
  for (const { run, explanation } of explained) {
    const { code, detail, run_id: such_as } = explanation;
    if (code === "running" || code === "ended") continue;
    const key = groupKey(run, explanation);
    const count = (groups.get(key)?.count ?? 0) + 1;
    groups.set(key, { ...(groups.get(key) ?? { code, detail, such_as }), count });
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

/** Runs with the same key are one line, with the detail of the oldest. */
function groupKey({ task, job_id: job }: Run, { code, facts }: RunExplanation): string {
  const named = ["queue", "scope", "key", "breaker"].map((name) => facts[name] ?? null);
  return JSON.stringify([code, task, code === "overlap" ? job : null, ...named]);
}

function pausedJob({ id, key, pause }: Job): WaitReason {
  const until = pause?.until ?? null;
  const end = until === null ? "until it is resumed" : `until ${until}`;
  const reason = pause?.reason ?? null;
  const detail = `job ${key === null ? id : `@${key}`} is paused since ${pause?.at ?? "?"}, ${end}${reason === null ? "" : `: ${reason}`}`;
  return { count: 1, code: "paused", detail, such_as: id };
}
