import type { RealApi } from "../api/real-api.js";
import type { SchemaNode } from "./from-document.js";
import type { Known } from "./requests.js";

const prefixes = ["job", "run", "wrk", "op", "bkf", "whk"] as const;
type Prefix = (typeof prefixes)[number];

/** The names of things in addresses, by the first part of the address. */
const names: Readonly<Record<string, string>> = {
  queues: "mail",
  tasks: "echo",
  calendars: "weekend",
  "maintenance-windows": "nights",
  namespaces: "default",
};

/** Enough that the calls which use things up do not use up all of them. */
const count = 20;

/** Existing things, so that requests reach more than "not found". Made while the node runs, because failed runs need its loops. */
export class Things {
  readonly #newest = new Map<Prefix, string>();
  /** Things that only some calls accept, by the part of the address that names those calls. */
  readonly #pools = new Map<string, readonly string[]>();
  #turn = 0;

  async make(api: RealApi): Promise<void> {
    const made = async (path: string, body?: unknown): Promise<Record<string, string>> => {
      const response = await api.post(path, body);
      this.learn(response.body);
      return response.json<Record<string, string>>();
    };
    const several = (make: () => Promise<Record<string, string>>): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, async () => (await make())["id"] ?? ""));
    await api.send("PUT", "/v1/calendars/weekend", { rules: [{ weekdays: ["SAT", "SUN"] }] });
    await api.send("PUT", "/v1/maintenance-windows/nights", { mode: "hold", cron: "0 2 * * *", duration: "2h" });
    await api.send("PATCH", "/v1/queues/mail", { concurrency: { limit: 5 } });
    await this.#fail(made);
    const later = { task: "echo", queue: "later", delay: "1h" };
    this.#pools.set("reschedule", await several(() => made("/v1/runs", later)));
    await made("/v1/runs", { task: "echo", queue: "mail", concurrency: { key: "k", limit: 2 }, ordering_key: "o" });
    const jobs = await several(() => made("/v1/jobs", { task: "echo", schedule: { cron: "0 9 * * *" } }));
    await made("/v1/jobs", { task: "echo", key: "nightly-report", schedule: { cron: "0 9 * * *" } });
    await made(`/v1/jobs/${jobs[0]}:backfill`, { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" });
    this.#pools.set("jobs", jobs);
    const webhooks = await several(() => made("/v1/webhooks", { url: "https://example.com/hooks/carillon" }));
    this.#pools.set("webhooks", webhooks);
    await made("/v1/runs:bulk", { action: "cancel", filter: { task: "none" } });
    await made("/v1/callback-secret:rotate", {});
    const { limits } = (await api.get("/v1/limits")).json<{ limits: { id: string; kind: string; scope: string }[] }>();
    const ofKind = (kind: string) =>
      limits.filter((one) => one.kind === kind && one.scope === "key").map(({ id }) => id);
    this.#pools.set("limits", ofKind("concurrency"));
    this.#pools.set("order", ofKind("order"));
  }

  /** Failed runs, each a dead letter. */
  async #fail(made: (path: string, body?: unknown) => Promise<Record<string, string>>): Promise<void> {
    const { id: worker } = await made("/v1/workers:register", {
      name: "w",
      queues: ["broken"],
      tasks: ["echo"],
      slots: count,
    });
    const request = { task: "echo", queue: "broken", retry: { max_attempts: 1 } };
    for (let at = 0; at < count; at += 1) await made("/v1/runs", request);
    const failed: string[] = [];
    while (failed.length < count) {
      const poll = await made(`/v1/workers/${worker}:poll`, { wait_ms: 5_000 });
      const runs = poll["runs"] as unknown as readonly { run_id: string; fence: number }[];
      const error = { type: "Broken", message: "It is broken.", retryable: false };
      const results = runs.map((run) => ({
        run_id: run.run_id,
        fence: run.fence,
        started_ago_ms: 1,
        outcome: "failed",
        error,
      }));
      await made(`/v1/workers/${worker}:poll`, { wait_ms: 0, results });
      failed.push(...runs.map((run) => run.run_id));
    }
    this.#pools.set("dead", failed);
  }

  /** Remembers the ids in an answer. */
  learn(body: string): void {
    for (const [id, prefix] of body.matchAll(/\b(job|run|wrk|op|bkf|whk)_[0-9a-hjkmnp-tv-z]{26}\b/g))
      this.#newest.set(prefix as Prefix, id);
  }

  readonly known: Known = ({ id, path }, { name, in: place }) => {
    if (place === "header") return name === "Carillon-Namespace" ? "default" : null;
    if (place !== "path" || name === "delivery") return null;
    const [, , noun = ""] = path.split("/");
    if (noun === "dead-letters" || /\/runs\/\{id\}:(retry|replay)$/.test(path)) return this.#next("dead");
    if (id === "putJob") return "@nightly-report";
    if (id === "rescheduleRun") return this.#next("reschedule");
    if (id === "resumeLimit") return this.#next("order");
    return this.#next(noun) ?? names[noun] ?? null;
  };

  #next(pool: string): string | null {
    const among = this.#pools.get(pool) ?? [];
    this.#turn += 1;
    return among[this.#turn % among.length] ?? null;
  }

  /** The newest thing of the kind that a text names. */
  readonly existing = ({ format, pattern = "" }: SchemaNode): string | null => {
    if (format === "job-name") return "@nightly-report";
    const [, prefix] = /^\^\(\?:(job|run|wrk|op|bkf|whk)_/.exec(pattern) ?? [];
    return prefix === undefined ? null : (this.#newest.get(prefix as Prefix) ?? null);
  };
}
