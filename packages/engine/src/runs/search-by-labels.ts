import { CarillonError, type LabelCondition, searchKeyOf } from "@carillon/core";
import type { SearchPaths } from "@carillon/store";

interface PayloadFilter {
  readonly payload?: Readonly<Record<string, string>>;
  readonly labels?: readonly LabelCondition[];
}

/** A filter by values of payloads as one by the labels that these are stored as. Throws path_not_searchable. */
export async function searchByLabels<Filter extends PayloadFilter>(
  filter: Filter,
  namespaceId: number,
  paths: SearchPaths,
): Promise<Omit<Filter, "payload">> {
  const { payload, ...rest } = filter;
  if (payload === undefined) return filter;
  const unknown = await paths.unknown(namespaceId, Object.keys(payload));
  if (unknown.length > 0) throw notSearchable(unknown);
  const values = Object.entries(payload).map(([path, value]): LabelCondition => ({
    key: searchKeyOf(path),
    isIn: true,
    among: [value],
  }));
  return { ...rest, labels: [...(filter.labels ?? []), ...values] };
}

function notSearchable(paths: readonly string[]): CarillonError {
  const code = "path_not_searchable";
  const detail = 'nothing here was declared searchable by this path; send searchable: ["…"] with a job or a run first';
  const items = paths.map((path) => ({ pointer: `?payload.${path}`, code, detail }) as const);
  return new CarillonError(code, `?payload.${paths[0]}: ${detail}`, { items });
}
