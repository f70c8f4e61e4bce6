import type { Namespace, NamespaceCreate, NamespaceList, NamespacePatch, PageQuery } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, ChangeOptions, Transport } from "./transport.js";

export interface NamespaceCalls {
  get(name: string, options?: CallOptions): Promise<Namespace>;
  list(query?: PageQuery, options?: CallOptions): Promise<NamespaceList>;
  create(namespace: NamespaceCreate, options?: CallOptions): Promise<Namespace>;
  update(name: string, patch: NamespacePatch, options?: ChangeOptions): Promise<Namespace>;
}

export function namespaceCalls(call: Transport): NamespaceCalls {
  const path = "/v1/namespaces";
  const at = (name: string): string => `${path}/${segment(name)}`;
  return {
    get: (name, given = {}) => call({ ...given, method: "GET", path: at(name) }),
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path, query }),
    create: (body, given = {}) => call({ ...given, method: "POST", path, body }),
    update: (name, patch, given = {}) => call({ ...given, method: "PATCH", path: at(name), body: patch }),
  };
}
