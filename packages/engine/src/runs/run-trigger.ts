/**
 * The trigger of a run that other runs' ends started: `after:` with the run whose end was the last that was needed and, where a
 * job waits for several, all of them in the order of its `after`, each behind a colon.
 */
export function afterTrigger(lastRunId: string, runIds: readonly string[]): string {
  return runIds.length > 1 ? ["after", lastRunId, ...runIds].join(":") : `after:${lastRunId}`;
}

/** The runs whose ends started a run with this trigger, in the order of `after`; none if it was started otherwise. */
export function upstreamIdsOf(trigger: string): readonly string[] {
  const [kind, last, ...all] = trigger.split(":");
  if (kind !== "after" || last === undefined) return [];
  return all.length > 0 ? all : [last];
}

/** The run that a run with this trigger was made from; null if it was made from none. */
export function repeatedIdOf(trigger: string): string | null {
  const [kind, id] = trigger.split(":", 2);
  return kind === "retry" || kind === "replay" ? (id ?? null) : null;
}
