import { readNamespaceName } from "../namespaces.js";
import { namespaceHeader } from "./namespace-header.js";
import type { CallerOf } from "./handler.js";

/**
 * As long as callers do not say who they are, namespaces have quotas. A name that cannot be one is refused later, and counts as the
 * usual one until then.
 */
export function callerByNamespace(usual: string): CallerOf {
  return ({ headers }) => {
    const given = headers[namespaceHeader];
    const named = typeof given === "string" ? readNamespaceName(given) : null;
    return `namespace ${named ?? usual}`;
  };
}
