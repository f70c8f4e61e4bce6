import type { IncomingHttpHeaders } from "node:http";
import { noNamespace, readNamespaceName } from "../namespaces.js";

export const namespaceHeader = "carillon-namespace";

/** Whose things a call is about. What cannot be a name names nothing; whether one exists is for whoever looks it up. */
export function namespaceOf(headers: IncomingHttpHeaders, usual: string): string {
  const given = headers[namespaceHeader];
  if (given === undefined) return usual;
  const name = typeof given === "string" ? readNamespaceName(given) : null;
  if (name === null) throw noNamespace(String(given).slice(0, 100));
  return name;
}
