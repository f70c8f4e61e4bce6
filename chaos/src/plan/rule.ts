/** When a job is to run, as the request says it. Instants are milliseconds; in a plan they count from the begin of the load. */
export type Rule =
  | { readonly kind: "cron"; readonly cron: string; readonly timeZone: string; readonly endsAt: number }
  | { readonly kind: "every"; readonly everyMs: number; readonly startsAt: number; readonly endsAt: number }
  | { readonly kind: "at"; readonly at: number }
  /** Not in a request: a calendar has closed all of its days. */
  | { readonly kind: "never" };

/** The rule of a plan that begins at this instant, a whole second. */
export function ruleFrom(begin: number, rule: Rule): Rule {
  if (rule.kind === "never") return rule;
  if (rule.kind === "at") return { ...rule, at: begin + rule.at };
  const endsAt = begin + rule.endsAt;
  return rule.kind === "cron" ? { ...rule, endsAt } : { ...rule, startsAt: begin + rule.startsAt, endsAt };
}
