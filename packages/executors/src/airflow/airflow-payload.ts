import type { DurationMs } from "@carillon/core";
import { PayloadReader } from "@carillon/worker";

export interface AirflowPayload {
  readonly dag: string;
  readonly conf: unknown;
  readonly everyMs: DurationMs;
}

/** Reads what a job wants to start. Throws a PayloadError that names every fault. */
export function readAirflowPayload(payload: unknown): AirflowPayload {
  const reader = new PayloadReader("airflow", payload);
  const conf = reader.value("conf") ?? {};
  if (typeof conf !== "object" || Array.isArray(conf)) reader.fault("conf", "must be an object");
  const read: AirflowPayload = {
    dag: reader.requiredText("dag", { most: 250, pattern: /^[\w.-]+$/, words: "the id of a DAG" }),
    conf,
    everyMs: reader.duration("poll_every", 600_000) ?? 5_000,
  };
  reader.end();
  return read;
}
