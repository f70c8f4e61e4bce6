import { type Static, Type } from "typebox";
import { closed, nullable, object, stringEnum, Text } from "../fields.js";
import type { Operation } from "../operation.js";

export const Alive = object("Alive", { status: stringEnum(["ok"]) });
export type Alive = Static<typeof Alive>;

export const Readiness = object(
  "Readiness",
  {
    status: stringEnum(["ready", "not_ready"]),
    checks: Type.Array(closed({ name: Type.String(), ok: Type.Boolean(), detail: Type.String() })),
  },
  { description: "All checks, with the reason of each that fails" },
);
export type Readiness = Static<typeof Readiness>;

export const Version = object("Version", {
  name: Type.String(),
  version: Type.String(),
  api: Type.String({ examples: ["v1"] }),
  node: Type.String(),
  instance: Text("Identifies this process; another one, also after a restart, has another"),
  folder: nullable(Text("The folder in which `carillon dev` was started; null on a server")),
});
export type Version = Static<typeof Version>;

const shared = { method: "GET", tag: "Meta", permission: "public", rateClass: "none", errors: [] } as const;

export const getLivez = {
  ...shared,
  path: "/livez",
  summary: "Check that the process is alive",
  description: "Never uses the database, because a node must not be restarted for a database that is away.",
  answers: { 200: { description: "It is alive", schema: Alive } },
} as const satisfies Operation;

export const getReadyz = {
  ...shared,
  path: "/readyz",
  client: "ready",
  summary: "Check that the node is ready",
  answers: {
    200: { description: "The node is ready", schema: Readiness },
    503: { description: "The node is not ready, for the reasons in the checks", schema: Readiness },
  },
} as const satisfies Operation;

export const getMetrics = {
  ...shared,
  path: "/metrics",
  summary: "Get metrics for Prometheus",
  answers: { 200: { description: "The text format", schema: Type.String(), contentType: "text/plain" } },
} as const satisfies Operation;

export const getVersion = {
  ...shared,
  path: "/version",
  client: "version",
  summary: "Get the version of the server",
  answers: { 200: { description: "Versions", schema: Version } },
} as const satisfies Operation;

export const getOpenApi = {
  ...shared,
  path: "/openapi.json",
  summary: "Get this document",
  answers: { 200: { description: "OpenAPI 3.1", schema: Type.Object({}, { additionalProperties: true }) } },
} as const satisfies Operation;

export const getDocs = {
  ...shared,
  path: "/docs",
  summary: "Get this document as a page",
  answers: { 200: { description: "A page", schema: Type.String(), contentType: "text/html" } },
} as const satisfies Operation;
