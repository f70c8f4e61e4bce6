import { isFinal, latenessOf, slaTermsOf } from "@carillon/core";
import type { RunExplanation } from "./explanations.js";
import type { RunView } from "../runs/run-view.js";
import { at, inWords } from "./words.js";

/** Adds how much later a run is, or was, than what was promised of it. */
export function withSla(explanation: RunExplanation, run: RunView, now: number): RunExplanation {
  const { policy, trigger, status, startedAt, finishedAt, attempts } = run;
  const terms = slaTermsOf({ sla: policy.sla, trigger: trigger.kind, nominal: trigger.scheduledFor });
  if (terms === null || status === "cancelled" || status === "skipped") return explanation;
  const isOver = isFinal(status);
  const started = attempts[0]?.startedAt ?? startedAt ?? (isOver ? (finishedAt ?? now) : now);
  const startLateMs = latenessOf(terms.startBy, started);
  const finishLateMs = latenessOf(terms.finishBy, finishedAt ?? now);
  const words = [
    startLateMs !== null && `it was to start by ${at(terms.startBy ?? 0)} and is ${inWords(startLateMs)} late`,
    finishLateMs !== null && `it was to end by ${at(terms.finishBy ?? 0)} and is ${inWords(finishLateMs)} late`,
  ].filter((one) => one !== false);
  return {
    ...explanation,
    detail: [explanation.detail, ...words].join("; "),
    facts: {
      ...explanation.facts,
      ...(startLateMs !== null && { sla_start_late_ms: startLateMs }),
      ...(finishLateMs !== null && { sla_finish_late_ms: finishLateMs }),
    },
  };
}
