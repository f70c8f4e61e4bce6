import { openApiDocument } from "@carillon/contract";

export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

export interface DocumentedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: SchemaNode;
}

export interface DocumentedOperation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly parameters: readonly DocumentedParameter[];
  readonly body: SchemaNode | undefined;
}

interface RawOperation {
  readonly operationId: string;
  readonly parameters: readonly DocumentedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: SchemaNode }>> };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const document = openApiDocument("0") as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> };
};

/** The schema itself, with references resolved. */
export function resolved(node: SchemaNode): SchemaNode {
  if (node.$ref === undefined) return node;
  const name = node.$ref.slice("#/components/schemas/".length);
  const target = document.components.schemas[name];
  if (target === undefined) throw new Error(`${node.$ref} leads nowhere`);
  return resolved(target);
}

/** Every operation of the document, except streams, which never end. */
export const documented: readonly DocumentedOperation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { responses }]) => !("text/event-stream" in (responses["200"]?.content ?? {})))
    .map(([method, { operationId: id, parameters, requestBody }]) => ({
      id,
      method: method.toUpperCase() as DocumentedOperation["method"],
      path,
      parameters,
      body: requestBody?.content["application/json"]?.schema,
    })),
);
