/** What the calls of a tag are about, and the guide that explains it. */
interface Tag {
  readonly description: string;
  readonly guide: string;
}

const guide = (name: string): string => `docs/guides/${name}.md`;

export const tags: Readonly<Record<string, Tag>> = {
  Jobs: {
    description: "A job fires runs of a task by a schedule, once, after other jobs, or on request.",
    guide: guide("schedules"),
  },
  Runs: {
    description: "A run is one execution of a task, with its attempts, its log and its outcome.",
    guide: guide("enqueue"),
  },
  Operations: {
    description: "Changes of many runs at once, which continue in the background.",
    guide: guide("failures"),
  },
  "Dead letters": {
    description: "Runs that failed for good: retry, replay or discard them.",
    guide: guide("failures"),
  },
  Callbacks: { description: "Another system ends a run that waits for it.", guide: guide("handlers") },
  "Error groups": { description: "Errors of the same kind, counted together.", guide: guide("failures") },
  Backfills: { description: "Runs for past occurrences of a job.", guide: guide("schedules") },
  Limits: {
    description: "How many runs of a key, task, job or queue go on at a time, or start in a time.",
    guide: guide("limits-and-fairness"),
  },
  Queues: { description: "The order of runs, pauses, and the numbers to scale by.", guide: guide("queues") },
  Breakers: {
    description: "Circuit breakers hold back the runs of a dependency that fails.",
    guide: guide("failures"),
  },
  Namespaces: { description: "Tenants, each with a share of the workers.", guide: guide("limits-and-fairness") },
  Calendars: {
    description: "Sets of days that schedules avoid or keep to, and maintenance windows.",
    guide: guide("calendars"),
  },
  Events: { description: "A live stream of what happens.", guide: guide("events") },
  Webhooks: { description: "Signed messages about the ends of runs.", guide: guide("events") },
  Workers: { description: "The processes that execute runs.", guide: guide("workers") },
  Tasks: { description: "The kinds of work that workers serve.", guide: guide("handlers") },
  Cluster: { description: "Nodes, their shards and their clocks.", guide: guide("deployment") },
  "Worker protocol": {
    description: "The calls of a worker in any language: register, poll, heartbeat.",
    guide: guide("workers"),
  },
  Development: {
    description: "What carillon dev keeps for the person at its terminal: the mails that it caught.",
    guide: guide("executors"),
  },
  Meta: { description: "Probes, metrics and this document.", guide: guide("observability") },
};
