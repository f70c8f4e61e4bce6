import type { RealApi } from "../api/real-api.js";
import type { SchemaNode } from "./from-document.js";
import type { Known } from "./requests.js";

const prefixes = ["job", "run", "wrk", "op", "bkf", "whk"] as const;
type Prefix = (typeof prefixes)[number];

/** The names of things in addresses, by the first part of the address. */
const names: Readonly<Record<string, string>> = {
  queues: "mail",
  tasks: "echo",
  breakers: "echo",
  calendars: "weekend",
  "maintenance-windows": "nights",
  namespaces: "default",
  limits: "lim_2",
};

/** Existing things, so that requests reach more than "not found". */
export class Things {
  readonly #ids = new Map<Prefix, string>();
  readonly #fixed = new Map<string, string>();

  async make(api: RealApi): Promise<void> {
    const made = async (path: string, body: unknown): Promise<Record<string, string>> => {
      const response = await api.post(path, body);
      this.learn(response.body);
      return response.json<Record<string, string>>();
    };
    await api.send("PUT", "/v1/calendars/weekend", { rules: [{ weekdays: ["SAT", "SUN"] }] });
    await api.send("PUT", "/v1/maintenance-windows/nights", { mode: "hold", cron: "0 2 * * *", duration: "2h" });
    await api.send("PATCH", "/v1/queues/mail", { concurrency: { limit: 5 } });
    await made("/v1/jobs", { task: "echo", key: "nightly-report", schedule: { cron: "0 9 * * *" } });
    await made("/v1/runs", { task: "echo", queue: "mail", delay: "1h", concurrency: { key: "k", limit: 2 } });
    const webhook = await made("/v1/webhooks", { url: "https://example.com/hooks/carillon" });
    this.#keep("whk", webhook["id"]);
    const delivery = await made(`/v1/webhooks/${webhook["id"]}:test`, undefined);
    this.#keep("delivery", delivery["id"]);
    const worker = await made("/v1/workers:register", { name: "w", queues: ["*"], tasks: ["echo"], slots: 5 });
    this.#keep("wrk", worker["id"]);
    await made("/v1/jobs/@nightly-report:backfill", { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" });
    await made("/v1/runs:bulk", { action: "cancel", filter: { task: "none" } });
    await made("/v1/callback-secret:rotate", {});
  }

  #keep(name: string, id: string | undefined): void {
    if (id !== undefined) this.#fixed.set(name, id);
  }

  /** Remembers the ids in an answer. */
  learn(body: string): void {
    for (const [id, prefix] of body.matchAll(/\b(job|run|wrk|op|bkf|whk)_[0-9a-hjkmnp-tv-z]{26}\b/g))
      this.#ids.set(prefix as Prefix, id);
  }

  readonly known: Known = ({ path }, { name, in: place }) => {
    const [, , noun = ""] = path.split("/");
    if (place === "header") return name === "Carillon-Namespace" ? "default" : null;
    if (name === "delivery") return this.#fixed.get("delivery") ?? null;
    if (place !== "path") return null;
    return names[noun.split(":")[0] ?? ""] ?? null;
  };

  /** The newest thing of the kind that a text names. */
  readonly existing = ({ format, pattern = "" }: SchemaNode): string | null => {
    if (format === "job-name") return "@nightly-report";
    const [, prefix] = /^\^\(\?:(job|run|wrk|op|bkf|whk)_/.exec(pattern) ?? [];
    if (prefix === undefined) return null;
    return this.#fixed.get(prefix) ?? this.#ids.get(prefix as Prefix) ?? null;
  };
}
