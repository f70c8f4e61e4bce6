import type { NodeCluster } from "./node-cluster.js";
import { createJob } from "./server.js";

interface JobOutcome {
  readonly id: string;
  readonly created: number;
  readonly through: number | null;
  readonly runs: readonly number[];
  readonly ledger: readonly { readonly from: number; readonly to: number }[];
}

const seconds = (column: string): string => `extract(epoch from ${column})::float8`;

/** The outcome of each job, in one statement, so that its parts are consistent. */
const outcomeRows = `
select d.job_id as id, ${seconds("j.created_at")} as created, ${seconds("d.fired_through")} as through,
  array(select ${seconds("nominal_at")} from (
    select job_id, nominal_at from carillon.run union all select job_id, nominal_at from carillon.run_history
  ) r where r.job_id = d.job_id) as runs,
  (select coalesce(json_agg(json_build_object('from', ${seconds("from_at")}, 'to', ${seconds("to_at")})), '[]')
   from carillon.occurrence o where o.job_id = d.job_id) as ledger
from carillon.job_due d join carillon.job j on j.id = d.job_id order by d.job_id`;

/** Jobs that are due at every second, enough of them that every node has some. */
export class EverySecond {
  readonly #cluster: NodeCluster;

  static async start(cluster: NodeCluster, url: string, count = 16): Promise<EverySecond> {
    const schedule = { cron: "* * * * * *" };
    await Promise.all(Array.from({ length: count }, () => createJob(url, { task: "echo", schedule })));
    const jobs = new EverySecond(cluster);
    await jobs.goOn();
    return jobs;
  }

  private constructor(cluster: NodeCluster) {
    this.#cluster = cluster;
  }

  /** Resolves when every job has fired for an instant that lies after this call, by the database's clock. */
  async goOn(): Promise<void> {
    const [row] = await this.#cluster.rows<{ now: Date }>("select clock_timestamp() as now");
    const behind = "select from carillon.job_due where fired_through is null or fired_through <= $1 limit 1";
    await this.#cluster.until(
      "every job goes on",
      async () => (await this.#cluster.rows(behind, [row?.now])).length === 0,
    );
  }

  /** Instants up to the newest that are neither a run nor in the ledger, or more than one run, or both; or out of turn. */
  async faults(): Promise<string[]> {
    return (await this.#cluster.rows<JobOutcome>(outcomeRows)).flatMap(faultsOf);
  }
}

function faultsOf({ id, created, through, runs, ledger }: JobOutcome): string[] {
  if (through === null) return [`${id} never fired`];
  // The first instant follows the moment of the request, which lies before that of the row.
  const first = Math.min(Math.floor(created) + 1, ...runs, ...ledger.map(({ from }) => from));
  const faults: string[] = [];
  const made = new Map<number, number>();
  for (const instant of runs) made.set(instant, (made.get(instant) ?? 0) + 1);
  for (let instant = first; instant <= through; instant++) {
    const count = (made.get(instant) ?? 0) + ledger.filter(({ from, to }) => from <= instant && instant <= to).length;
    made.delete(instant);
    if (count !== 1) faults.push(`${id} has ${count} of ${new Date(instant * 1_000).toISOString()}`);
  }
  for (const instant of made.keys())
    faults.push(`${id} ran for ${new Date(instant * 1_000).toISOString()}, out of turn`);
  return faults;
}
