import type { RunPolicy } from "../job/run-policy.js";

type Labels = Readonly<Record<string, string>>;

/** Labels of users cannot begin with it. */
const mark = "$.";
/** Longer values are not searchable. */
const maxValueLength = 256;

/** The label under which a payload value is stored for searches. */
export function searchKeyOf(path: string): string {
  return `${mark}${path}`;
}

interface Labelled {
  readonly labels: Labels;
  readonly policy: Pick<RunPolicy, "searchable">;
  readonly payload: unknown;
}

/**
 * The labels as stored: those of the user, and one for each searchable payload path with a string, number or boolean. Payload
 * searches are label searches: they need no further table or index, and cost nothing without searchable paths.
 */
export function storedLabels({ labels, policy: { searchable }, payload }: Labelled): Labels {
  if (searchable === undefined) return labels;
  const searched = searchable.flatMap((path) => {
    const value = toSearchText(valueAt(payload, path));
    return value === null ? [] : [[searchKeyOf(path), value] as const];
  });
  return { ...shownLabels(labels), ...Object.fromEntries(searched) };
}

/** The labels of the user, without those for payload paths. */
export function shownLabels(labels: Labels): Labels {
  const names = Object.keys(labels);
  if (!names.some((name) => name.startsWith(mark))) return labels;
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith(mark)));
}

function valueAt(payload: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    return Object.entries(value).find(([key]) => key === name)?.[1];
  }, payload);
}

/** null: a filter cannot match the value. */
function toSearchText(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value.length <= maxValueLength ? value : null;
}
