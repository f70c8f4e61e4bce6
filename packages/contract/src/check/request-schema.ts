export type ValueType = "string" | "integer" | "number" | "boolean" | "object" | "array";

/**
 * The keywords of JSON Schema that schemas of requests may use: the ones that check-value understands. A test walks every
 * request schema, so that a keyword from outside this list cannot be published without being checked.
 */
export interface RequestSchema {
  /** With "null" it is a member that a merge patch can remove. */
  readonly type?: ValueType | readonly [ValueType, "null"];
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: RequestSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, RequestSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | RequestSchema;
  readonly propertyNames?: RequestSchema;
  readonly maxProperties?: number;
}
