import { namespaceNamePattern } from "@carillon/core";
import { type Static, Type } from "typebox";
import { namespaceNameLength } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import { object, Timestamp } from "../fields.js";
import { bodyErrors, getErrors, type Operation, pageAnswer, storeErrors } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";
import { ownLimitAnswer, ownLimitPatch, readOwnLimits } from "./run-limits.js";

const Weight = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description:
    "Its share of the workers that serve several namespaces, relative to the weights of the other namespaces that have work",
  examples: [3],
});

const NamespaceName = Type.String({
  minLength: 1,
  maxLength: namespaceNameLength,
  pattern: namespaceNamePattern,
  examples: ["billing"],
});

export const NamespaceCreate = object(
  "NamespaceCreate",
  { name: NamespaceName, weight: Type.Optional(Type.Integer({ ...Weight, default: 1 })) },
  { examples: [{ name: "billing", weight: 3 }] },
);
export type NamespaceCreate = Static<typeof NamespaceCreate>;

export const NamespacePatch = object(
  "NamespacePatch",
  {
    weight: Type.Optional(Weight),
    ...ownLimitPatch,
  },
  { examples: [{ weight: 3 }] },
);
export type NamespacePatch = Static<typeof NamespacePatch>;

export const Namespace = object("Namespace", {
  name: Type.String(),
  weight: Weight,
  ...ownLimitAnswer,
  version: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Namespace = Static<typeof Namespace>;

export const NamespaceList = pageOf("NamespaceList", { namespaces: Type.Array(Namespace) });
export type NamespaceList = Static<typeof NamespaceList>;

const reads = { tag: "Namespaces", permission: "namespaces:read", rateClass: "read", method: "GET" } as const;
const writes = { tag: "Namespaces", permission: "namespaces:write", rateClass: "write" } as const;
const params = Type.Object({ name: NamespaceName });
const path = "/v1/namespaces/{name}";
const headers = { ETag: 'Its version, as in "v7"' };
const theNamespace = { description: "The namespace as it is now", schema: Namespace, headers };

export const listNamespaces = {
  ...reads,
  path: "/v1/namespaces",
  client: "namespaces.list",
  summary: "List namespaces by name",
  query: PageQuery,
  ...pageAnswer(NamespaceList),
} as const satisfies Operation;

export const createNamespace = {
  ...writes,
  method: "POST",
  path: "/v1/namespaces",
  client: "namespaces.create",
  summary: "Create a namespace",
  description:
    "A call selects a namespace by the header Carillon-Namespace; without it, the server's own is used, usually default.",
  body: NamespaceCreate,
  answers: {
    201: { ...theNamespace, description: "Created", headers: { ...headers, Location: "The address of the namespace" } },
  },
  errors: [...bodyErrors, "namespace_taken", ...storeErrors],
} as const satisfies Operation;

export const getNamespace = {
  ...reads,
  path,
  client: "namespaces.get",
  summary: "Get a namespace",
  params,
  answers: { 200: theNamespace },
  errors: getErrors,
} as const satisfies Operation;

export const updateNamespace = {
  ...writes,
  method: "PATCH",
  path,
  client: "namespaces.update",
  summary: "Change a namespace",
  description: "A new weight applies from the next claim on. Other nodes follow within a second.",
  params,
  conditional: true,
  body: NamespacePatch,
  answers: { 200: theNamespace },
  errors: [...bodyErrors, "duration_invalid", "not_found", "precondition_failed", ...storeErrors],
} as const satisfies Operation;

export function readNamespaceCreate(body: unknown) {
  return readBody(NamespaceCreate, body, ({ name = "", weight = 1 }) => ({ name, weight }));
}

export function readNamespacePatch(body: unknown) {
  return readBody(NamespacePatch, body, ({ weight, ...limits }, findings) => {
    return { ...(weight !== undefined && { weight }), ...readOwnLimits(limits, findings) };
  });
}
