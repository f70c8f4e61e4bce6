import { type Static, Type } from "typebox";
import { stringEnum, object, closed } from "../fields.js";
import type { Operation } from "../operation.js";

export const Alive = object("Alive", { status: stringEnum(["ok"]) });
export type Alive = Static<typeof Alive>;

export const Readiness = object(
  "Readiness",
  {
    status: stringEnum(["ready", "not_ready"]),
    checks: Type.Array(closed({ name: Type.String(), ok: Type.Boolean(), detail: Type.String() })),
  },
  { description: "Every check, with the reason where one fails" },
);
export type Readiness = Static<typeof Readiness>;

export const Version = object("Version", {
  name: Type.String(),
  version: Type.String(),
  api: Type.String({ examples: ["v1"] }),
  node: Type.String(),
});
export type Version = Static<typeof Version>;

const shared = { method: "GET", tag: "Meta", permission: "public", rateClass: "none", errors: [] } as const;

export const getLivez = {
  ...shared,
  path: "/livez",
  summary: "Whether the process answers",
  description: "Never touches the database: a node without one must not be killed for it.",
  answers: { 200: { description: "It does", schema: Alive } },
} as const satisfies Operation;

export const getReadyz = {
  ...shared,
  path: "/readyz",
  client: "ready",
  summary: "Whether the node can do its work",
  answers: {
    200: { description: "It can", schema: Readiness },
    503: { description: "It cannot, for the reasons given", schema: Readiness },
  },
} as const satisfies Operation;

export const getMetrics = {
  ...shared,
  path: "/metrics",
  summary: "Metrics for Prometheus",
  answers: { 200: { description: "The text format", schema: Type.String(), contentType: "text/plain" } },
} as const satisfies Operation;

export const getVersion = {
  ...shared,
  path: "/version",
  client: "version",
  summary: "What runs here",
  answers: { 200: { description: "Versions", schema: Version } },
} as const satisfies Operation;

export const getOpenApi = {
  ...shared,
  path: "/openapi.json",
  summary: "This document",
  answers: { 200: { description: "OpenAPI 3.1", schema: Type.Object({}, { additionalProperties: true }) } },
} as const satisfies Operation;

export const getDocs = {
  ...shared,
  path: "/docs",
  summary: "This document as a page",
  answers: { 200: { description: "A page", schema: Type.String(), contentType: "text/html" } },
} as const satisfies Operation;
