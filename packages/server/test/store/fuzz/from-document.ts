import { openApiDocument } from "@carillon/contract";
import { Compile } from "typebox/compile";

export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode | false>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly propertyNames?: SchemaNode;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly allOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly "x-minimum-duration"?: string;
  readonly "x-maximum-duration"?: string;
  readonly "x-each-by-itself"?: boolean;
  readonly "x-carillon-rules"?: readonly { readonly code: string; readonly rule: string }[];
}

export interface DocumentedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: SchemaNode;
}

export interface DocumentedOperation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly parameters: readonly DocumentedParameter[];
  readonly body: SchemaNode | undefined;
  readonly bodyTypes: readonly string[];
  /** The body that the document shows. */
  readonly example: unknown;
  readonly isBodyRequired: boolean;
  /** The call waits for an event, as long as its parameters say. */
  readonly waits: boolean;
  readonly refusesUnknownParameters: boolean;
  /** The codes of the rules that the schemas cannot express. */
  readonly ruleCodes: ReadonlySet<string>;
}

interface RawOperation {
  readonly operationId: string;
  readonly "x-waits"?: boolean;
  readonly "x-ignores-unknown-parameters"?: boolean;
  readonly "x-carillon-rules"?: SchemaNode["x-carillon-rules"];
  readonly parameters: readonly DocumentedParameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: SchemaNode; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const document = openApiDocument("0") as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> };
};

const components = new Map<string, unknown>();

/** The schema with every reference replaced by its target; each target is one object, so that its validator is compiled once. */
function inlined<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(inlined) as Node;
  if (typeof node !== "object" || node === null) return node;
  if ("$ref" in node && typeof node.$ref === "string") return component(node.$ref) as Node;
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, inlined(member)])) as Node;
}

function component(reference: string): unknown {
  const known = components.get(reference);
  if (known !== undefined) return known;
  const target = document.components.schemas[reference.slice("#/components/schemas/".length)];
  if (target === undefined) throw new Error(`${reference} leads nowhere`);
  const body = inlined(target);
  components.set(reference, body);
  return body;
}

function ruleCodesIn(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own = (node as SchemaNode)["x-carillon-rules"] ?? [];
  return [...own.map(({ code }) => code), ...Object.values(node).flatMap(ruleCodesIn)];
}

/** Every operation of the document, except streams, which never end. */
export const documented: readonly DocumentedOperation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { responses }]) => !("text/event-stream" in (responses["200"]?.content ?? {})))
    .map(([method, { operationId: id, parameters, requestBody, ...operation }]) => {
      const inlinedParameters = inlined(parameters);
      const body = inlined(Object.values(requestBody?.content ?? {})[0]?.schema);
      return {
        id,
        method: method.toUpperCase() as DocumentedOperation["method"],
        path,
        parameters: inlinedParameters,
        body,
        example: Object.values(requestBody?.content ?? {})[0]?.example,
        bodyTypes: Object.keys(requestBody?.content ?? {}),
        isBodyRequired: requestBody?.required === true,
        waits: operation["x-waits"] === true,
        ruleCodes: new Set([
          ...ruleCodesIn([inlinedParameters, body]),
          ...ruleCodesIn({ "x-carillon-rules": operation["x-carillon-rules"] }),
        ]),
        refusesUnknownParameters: operation["x-ignores-unknown-parameters"] !== true,
      };
    }),
);

type Validator = ReturnType<typeof Compile>;
const validators = new WeakMap<SchemaNode, Validator>();

/** Whether a value is valid by the document. Formats of its own are not checked. */
export function isValid(schema: SchemaNode, value: unknown): boolean {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Compile(schema as Parameters<typeof Compile>[0]);
    validators.set(schema, validator);
  }
  return validator.Check(value);
}
