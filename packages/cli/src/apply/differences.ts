/** One member that is to change; undefined where it is not there. */
export interface Difference {
  /** schedule.cron */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What differs between two JSON values, member by member; lists are compared whole. */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (sortedJson(before) === sortedJson(after)) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** As text that does not depend on the order of members. */
function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) =>
    isRecord(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
