import { formatId, webhookTask } from "@carillon/core";
import type { RunView, WebhookDelivery } from "@carillon/engine";

interface OfJob {
  readonly jobId: string | null;
  readonly task: string;
}

/** The run of a delivery is kept under its endpoint, which is no job. */
export function shownJobId({ jobId, task }: OfJob): string | null {
  return jobId === null || task === webhookTask ? null : formatId("job", jobId);
}

/** What a delivery sends, with the names and ids of the API. */
export function shownPayload({ task, payload }: Pick<RunView, "task" | "payload">): unknown {
  if (task !== webhookTask) return payload ?? null;
  const { endpointId, url, message } = payload as WebhookDelivery;
  return endpointId === null ? { url, message } : { endpoint_id: formatId("whk", endpointId), message };
}
