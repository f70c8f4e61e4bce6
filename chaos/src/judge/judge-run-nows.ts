import type { Life } from "../targets/life.js";
import type { RunRow } from "./evidence.js";
import { isRunNow } from "./unasked.js";
import type { Violation } from "./verdict.js";

/** Are there as many runs out of turn as were asked for? A call that was never answered may have made one. */
export function judgeRunNows({ job: { key }, runNows }: Life, runs: readonly RunRow[]): Violation[] {
  const made = new Set(runs.filter((run) => run.job === key && isRunNow(run)).map((run) => run.id)).size;
  const answered = runNows.filter((outcome) => outcome === "made").length;
  const most = answered + runNows.filter((outcome) => outcome === "unknown").length;
  const detail = `${made} runs out of turn; ${answered} calls were acknowledged, and ${most} may have made one`;
  if (made < answered) return [{ kind: "MISSED", job: key, nominal: null, detail }];
  return made > most ? [{ kind: "UNEXPECTED", job: key, nominal: null, detail }] : [];
}
