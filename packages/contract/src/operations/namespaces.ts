import { Type } from "typebox";
import { PageQuery } from "../schema/job-history.js";
import { Namespace, NamespaceCreate, NamespaceList, NamespacePatch } from "../schema/namespace.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const reads = { tag: "Namespaces", permission: "namespaces:read", rateClass: "read", method: "GET" } as const;
const writes = { tag: "Namespaces", permission: "namespaces:write", rateClass: "write" } as const;
const params = Type.Object({ name: Type.String({ examples: ["billing"] }) });
const path = "/v1/namespaces/{name}";
const headers = { ETag: 'Its version, as in "v7"' };
const theNamespace = { description: "The namespace as it is now", schema: Namespace, headers };

export const listNamespaces = {
  ...reads,
  path: "/v1/namespaces",
  summary: "List namespaces by name",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: NamespaceList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const createNamespace = {
  ...writes,
  method: "POST",
  path: "/v1/namespaces",
  summary: "Make a namespace",
  description:
    "Calls choose one by the header Carillon-Namespace; without it they mean the server's own, usually default.",
  body: NamespaceCreate,
  answers: { 201: { ...theNamespace, description: "Made", headers: { ...headers, Location: "Its address" } } },
  errors: [...bodyErrors, "namespace_taken", ...storeErrors],
} as const satisfies Operation;

export const getNamespace = {
  ...reads,
  path,
  summary: "Get a namespace",
  params,
  answers: { 200: theNamespace },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const updateNamespace = {
  ...writes,
  method: "PATCH",
  path,
  summary: "Change a namespace",
  description: "Weights count from the next claim on; other nodes follow within a second.",
  params,
  conditional: true,
  body: NamespacePatch,
  answers: { 200: theNamespace },
  errors: [...bodyErrors, "not_found", "precondition_failed", ...storeErrors],
} as const satisfies Operation;
