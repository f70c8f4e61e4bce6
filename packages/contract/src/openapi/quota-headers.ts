import { type Operation, quotaClassOf } from "../operations/operation.js";
import type { ResponseJson } from "./response-json.js";
import type { Json } from "./schema-components.js";

/** Those of draft-ietf-httpapi-ratelimit-headers-11, whose values are structured fields (RFC 9651), and when to come again. */
export const quotaHeaders = {
  "RateLimit-Policy": {
    description:
      "The quota that the call counts against, where the node has one for its class: its name, requests (q) and window in seconds (w)",
    schema: { type: "string" },
    example: '"read";q=600;w=60',
  },
  RateLimit: {
    description: "What the caller has left of it (r), and in how many seconds there will be more (t)",
    schema: { type: "string" },
    example: '"read";r=42;t=1',
  },
  "Retry-After": {
    description: "In how many seconds to come again",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
} as const satisfies Json;

/** Adds them to what callers look at them in: every answer of such a call has them, the document names those that were let in or refused by it. */
export function withQuotaHeaders(operation: Operation, status: string, answer: ResponseJson): ResponseJson {
  const isRefused = status === "429";
  if (quotaClassOf(operation) === null || !(isRefused || status.startsWith("2"))) return answer;
  const names = ["RateLimit-Policy", "RateLimit", ...(isRefused ? ["Retry-After"] : [])];
  const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
  return { ...answer, headers: { ...answer.headers, ...Object.fromEntries(references) } };
}
