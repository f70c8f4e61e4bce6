import type { RunPolicy } from "../job/run-policy.js";

type Labels = Readonly<Record<string, string>>;

/** No label that a user can write begins with it. */
const mark = "$.";
/** A longer text is not found by: it is no name of anything. */
const longestValue = 256;

/** The label under which a value of a payload is searched for. */
export function searchKeyOf(path: string): string {
  return `${mark}${path}`;
}

interface Labelled {
  readonly labels: Labels;
  readonly policy: Pick<RunPolicy, "searchable">;
  readonly payload: unknown;
}

/**
 * The labels as they are stored: those of the user, and one for each path of the payload that was declared searchable and holds a text, a
 * number or a truth value. Search over payloads is search over labels: no table and no index more, and nothing for who declares none.
 */
export function storedLabels({ labels, policy: { searchable }, payload }: Labelled): Labels {
  if (searchable === undefined) return labels;
  const searched = searchable.flatMap((path) => {
    const value = searchTextOf(valueAt(payload, path));
    return value === null ? [] : [[searchKeyOf(path), value] as const];
  });
  return { ...shownLabels(labels), ...Object.fromEntries(searched) };
}

/** The labels as users wrote them. */
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

/** null: what is there is nothing that a filter could name. */
function searchTextOf(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value.length <= longestValue ? value : null;
}
