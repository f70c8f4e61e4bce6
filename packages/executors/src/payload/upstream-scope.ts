import type { UpstreamRun } from "@carillon/worker";

const root = "upstream";

export function namesUpstream(path: string): boolean {
  return path === root || path.startsWith(`${root}.`);
}

/** The runs whose ends started this one, as templates and rules name their members. */
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

/** Stands for these runs while a job is created: nobody knows yet what they will have, so it has whatever is asked for. */
export function sampleUpstream(paths: readonly string[]): unknown {
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

type Branch = Map<string, Branch>;

function valueOf(branch: Branch): unknown {
  if (branch.size === 0) return "";
  return Object.fromEntries([...branch].map(([name, next]) => [name, valueOf(next)]));
}
