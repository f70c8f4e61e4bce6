import type { IncomingHttpHeaders } from "node:http";
import { readNamespaceName } from "../handlers/namespaces.js";
import { namespaceHeader } from "../namespace-header.js";

/** Whose quota a request counts against, in words that a refusal can repeat. */
export type CallerOf = (request: { readonly headers: IncomingHttpHeaders }) => string;

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
