import type { JobCreate } from "@carillon/contract";

interface Keyed {
  readonly key: string;
  readonly definition: Pick<JobCreate, "schedule">;
}

/** Groups jobs so that each comes after those that it waits for. What goes round in a circle is left to the server to refuse. */
export function waves<One extends Keyed>(jobs: readonly One[]): One[][] {
  const byKey = new Map(jobs.map((job) => [job.key, job]));
  const depths = new Map<string, number>();
  const depthOf = (job: One, path: readonly string[]): number => {
    const known = depths.get(job.key);
    if (known !== undefined) return known;
    if (path.includes(job.key)) return 0;
    const upstream = (job.definition.schedule?.after ?? []).flatMap(
      (one) => byKey.get(one.job.replace(/^@/, "")) ?? [],
    );
    const depth = Math.max(-1, ...upstream.map((one) => depthOf(one, [...path, job.key]))) + 1;
    depths.set(job.key, depth);
    return depth;
  };
  const grouped: One[][] = [];
  for (const job of jobs) (grouped[depthOf(job, [])] ??= []).push(job);
  return grouped.filter((wave) => wave !== undefined);
}
