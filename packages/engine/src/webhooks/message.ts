import { type CallbackPart, formatId, formatInstant, type Instant, shownLabels } from "@carillon/core";
import type { RunRow } from "@carillon/store";

/** The payload of a run that sends a message. */
export interface WebhookDelivery {
  /** null: the URL is that of a callback. */
  readonly endpointId: string | null;
  readonly url: string | null;
  readonly message: WebhookMessage;
}

/** A CloudEvent in JSON. */
export interface WebhookMessage {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly subject?: string;
  readonly datacontenttype: "application/json";
  readonly data: unknown;
}

const facts = { specversion: "1.0", source: "carillon", datacontenttype: "application/json" } as const;

/** The message about an ended run: its outcome, and the parts that the endpoint or callback includes. */
export function runMessage(id: string, run: RunRow, include: readonly CallbackPart[]): WebhookMessage {
  const { finished_at: finished, started_at: started } = run;
  return {
    ...facts,
    id: formatId("evt", id),
    type: `run.${run.status}`,
    time: formatInstant(finished ?? run.created_at),
    subject: formatId("run", run.id),
    data: {
      id: formatId("run", run.id),
      job_id: run.job_id === null ? null : formatId("job", run.job_id),
      task: run.task,
      queue: run.queue,
      status: run.status,
      status_reason: run.status_reason,
      attempt: run.attempt,
      scheduled_for: formatInstant(run.nominal_at),
      started_at: started === null ? null : formatInstant(started),
      finished_at: finished === null ? null : formatInstant(finished),
      duration_ms: started === null || finished === null ? null : Math.max(0, finished - started),
      labels: shownLabels(run.labels ?? {}),
      owner: run.owner,
      ...(include.includes("payload") && { payload: run.payload ?? null }),
      ...(include.includes("output") && { output: run.output ?? null }),
      ...(include.includes("error") && { error: run.error ?? null }),
    },
  };
}

export function testMessage(id: string, endpointId: string, now: Instant): WebhookMessage {
  const data = { endpoint_id: formatId("whk", endpointId), text: "This is a test." };
  return { ...facts, id: formatId("evt", id), type: "webhook.test", time: formatInstant(now), data };
}
