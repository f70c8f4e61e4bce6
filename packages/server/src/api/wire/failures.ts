import type { ErrorGroup, RunWithRedrives } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ErrorGroupView, RedriveView } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

export function wireRedrive({ kind, runId, actor, at }: RedriveView): RunWithRedrives["redrives"][number] {
  return { kind, run_id: runId === null ? null : formatId("run", runId), actor, at: timestamp(at) };
}

export function wireErrorGroup(group: ErrorGroupView): ErrorGroup {
  const { fingerprint, type, message, tasks, count } = group;
  return {
    fingerprint,
    type,
    message,
    tasks: [...tasks],
    count,
    first_seen_at: timestamp(group.firstSeenAt),
    last_seen_at: timestamp(group.lastSeenAt),
    sample_run_id: formatId("run", group.sampleRunId),
  };
}
