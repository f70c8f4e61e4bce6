import type { JobExplanation, RunExplanation } from "@carillon/contract";
import { shellWord } from "./shell-word.js";

const longLateMs = 10_000;

/** The commands with which somebody goes on from what was explained of a run; none where waiting is all there is to do. */
export function stepsOfRun({ run_id: id, code, facts }: RunExplanation): readonly string[] {
  const fact = (name: string): string => {
    const value = facts[name];
    return shellWord(typeof value === "string" ? value : "…");
  };
  switch (code) {
    case "ended":
      return facts["status"] === "failed" ? [`carillon run logs ${id}`, `carillon run retry ${id}`] : [];
    case "running":
      return [`carillon run watch ${id}`];
    case "queue_paused":
      return [`carillon queue resume ${fact("queue")}`];
    case "limit_concurrency":
    case "limit_rate":
      return ["carillon limit list"];
    case "limit_order":
      return facts["run"] === undefined ? ["carillon limit list"] : [`carillon run retry ${fact("run")}`];
    case "breaker_open":
      return [`carillon breaker show ${fact("breaker")}`, `carillon breaker reset ${fact("breaker")}`];
    case "position":
      return ["carillon top"];
    case "no_worker_for_task":
      return [startOf(facts["task"]), "carillon task list"];
    case "no_worker_for_queue":
      return [`carillon worker start … --queues ${fact("queue")}`, "carillon worker list"];
    case "no_worker_for_version":
    case "no_worker_with_labels":
    case "only_spot_workers":
    case "workers_cordoned":
      return ["carillon worker list"];
    default:
      return [];
  }
}

/** The same of a job, its newest run included. */
export function stepsOfJob(explanation: JobExplanation): readonly string[] {
  const { run } = explanation;
  return [...stepsOfSchedule(explanation), ...(run === null ? [] : stepsOfRun(run))];
}

function stepsOfSchedule({ job_id: id, code, facts }: JobExplanation): readonly string[] {
  if (code === "paused") return [`carillon job resume ${id}`];
  if (code === "manual" || code === "completed") return [`carillon job run ${id}`];
  if (code === "cancelled") return [`carillon job export ${id} | carillon job apply -f -`];
  if (code === "fires_now" && Number(facts["late_ms"]) >= longLateMs) return ["carillon node list"];
  return [];
}

/** Who can run a task that nobody runs yet. */
function startOf(task: unknown): string {
  if (task === "shell") return "carillon worker start --enable-shell";
  return "carillon worker start <module with this task>";
}
