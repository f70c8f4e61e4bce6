import type { RunPolicy } from "@carillon/core";
import type { SearchPaths } from "@carillon/store";

/** Declares the payload paths that jobs or runs name as searchable. Called before the rows are stored, so that a search finds them. */
export async function declareSearchPaths(
  paths: Pick<SearchPaths, "declare">,
  namespaceId: number,
  specs: readonly { readonly policy: RunPolicy }[],
): Promise<void> {
  const searchable = specs.flatMap(({ policy }) => policy.searchable ?? []);
  if (searchable.length > 0) await paths.declare(namespaceId, searchable);
}
