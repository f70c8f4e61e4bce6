import { bruteForceFires } from "../../../packages/core/test/oracle/brute-force-fires.js";
import type { Rule } from "../plan/rule.js";

/** Every instant of a rule from a time on, in order, found without any code of the engine. */
export function instantsOf(rule: Rule, from: number): number[] {
  if (rule.kind === "never") return [];
  if (rule.kind === "at") return rule.at >= from ? [rule.at] : [];
  if (rule.kind === "cron") {
    return bruteForceFires({ expression: rule.cron, timeZone: rule.timeZone }, from - 1, rule.endsAt);
  }
  const instants: number[] = [];
  for (let at = rule.startsAt; at <= rule.endsAt; at += rule.everyMs) if (at >= from) instants.push(at);
  return instants;
}
