/**
 * The router's form of an address: /v1/jobs/{id} becomes /v1/jobs/:id(^[^:/]+$). A parameter never holds a colon, because
 * a colon begins a verb, as in /v1/jobs/{id}:pause, whose own colon is written twice.
 */
export function routePath(path: string): string {
  return path.replaceAll(":", "::").replaceAll(/\{(\w+)\}/g, ":$1(^[^:/]+$)");
}
