import { setTimeout as sleep } from "node:timers/promises";
import type { JournalServer } from "../journal/journal-server.js";
import type { ChaosJob, PlannedJob, Rule } from "../plan/workload.js";
import type { Acknowledgement } from "../targets/targets.js";
import type { Cluster } from "./cluster.js";

const callLimitMs = 6_000;

/** Asks for every planned job at its time, by the public API of the nodes in turn, and keeps what was answered. */
export class Driver {
  readonly acknowledgements: Acknowledgement[] = [];
  readonly #cluster: Cluster;
  readonly #journal: JournalServer;
  #calls = 0;

  constructor(cluster: Cluster, journal: JournalServer) {
    this.#cluster = cluster;
    this.#journal = journal;
  }

  async drive(planned: readonly PlannedJob[], begin: number): Promise<void> {
    const calls: Promise<void>[] = [];
    for (const { createAtMs, job } of planned) {
      await sleep(Math.max(0, begin + createAtMs - Date.now()));
      calls.push(this.#create(job));
    }
    await Promise.all(calls);
  }

  /** A node that is known to be down is not asked; any other call that is not answered with 201 ended unknown. */
  async #create(job: ChaosJob): Promise<void> {
    const urls = this.#cluster.members.flatMap(({ node }) => node.url ?? []);
    const url = urls[this.#calls++ % Math.max(1, urls.length)];
    if (url === undefined) return;
    const sentAt = Date.now();
    const isAccepted = await this.#post(`${url}/v1/jobs`, this.#requestFor(job)).catch((error: unknown) => {
      if (error instanceof Refused) throw error;
      return false;
    });
    this.acknowledgements.push({ job, sentAt, acknowledgedAt: isAccepted ? Date.now() : null });
  }

  async #post(url: string, body: object): Promise<boolean> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(callLimitMs),
    });
    const text = await response.text();
    if (response.status < 500 && response.status !== 201) throw new Refused(`${response.status} ${text}`);
    return response.status === 201;
  }

  #requestFor(job: ChaosJob): object {
    return {
      task: "http",
      payload: { url: this.#journal.urlOf({ job: job.key, workMs: job.workMs, failsFirst: job.failsFirst }) },
      schedule: wireForm(job.rule),
      retry: { max_attempts: 20, backoff: "fixed", initial: "500ms" },
    };
  }
}

/** The harness asked for something that the API does not take: a mistake of the harness. */
class Refused extends Error {
  override readonly name = "Refused";
}

const instant = (at: number): string => new Date(at).toISOString();

function wireForm(rule: Rule): object {
  if (rule.kind === "at") return { at: instant(rule.at) };
  const endsAt = instant(rule.endsAt);
  if (rule.kind === "cron") return { cron: rule.cron, time_zone: rule.timeZone, ends_at: endsAt };
  return { every: `${rule.everyMs}ms`, starts_at: instant(rule.startsAt), ends_at: endsAt };
}
