import type { RunPolicy } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** The payload paths by which runs and jobs can be found. A declared path stays declared. */
export interface SearchPaths {
  /** Those that jobs or runs name. Called before their rows are stored, so that a search finds them. */
  declare(namespaceId: number, specs: readonly { readonly policy: RunPolicy }[]): Promise<void>;
  /** Those of these that were not declared. */
  unknown(namespaceId: number, paths: readonly string[]): Promise<string[]>;
}

/** Namespaces whose paths are cached; with more, the oldest are read again. */
const maxNamespaces = 1_000;

export function searchPaths(db: Queryable, statements: Statements): SearchPaths {
  const declare = statements.get("search_path.declare");
  const list = statements.get("search_path.list");
  const known = new Map<number, Set<string>>();
  const remember = (namespaceId: number, paths: readonly string[]): void => {
    const [oldest] = known.keys();
    if (!known.has(namespaceId) && known.size >= maxNamespaces && oldest !== undefined) known.delete(oldest);
    known.set(namespaceId, new Set([...(known.get(namespaceId) ?? []), ...paths]));
  };
  const missing = (namespaceId: number, paths: readonly string[]): string[] =>
    paths.filter((path) => known.get(namespaceId)?.has(path) !== true);
  return {
    async declare(namespaceId, specs) {
      const paths = specs.flatMap(({ policy }) => policy.searchable ?? []);
      const fresh = [...new Set(missing(namespaceId, paths))];
      if (fresh.length === 0) return;
      await db.query(declare, declare.values({ namespaceId, paths: fresh }));
      remember(namespaceId, fresh);
    },
    async unknown(namespaceId, paths) {
      if (missing(namespaceId, paths).length === 0) return [];
      const { rows } = await db.query<{ path: string }>(list, list.values({ namespaceId }));
      remember(
        namespaceId,
        rows.map((row) => row.path),
      );
      return missing(namespaceId, paths);
    },
  };
}
