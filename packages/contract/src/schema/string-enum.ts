import { Type, type TSchema, type TUnsafe } from "typebox";

interface Annotations {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

/** One of a few words, emitted as `{type: "string", enum}`, which code generators understand; a union of literals is not. */
export function stringEnum<const Words extends readonly string[]>(
  words: Words,
  annotations: Annotations = {},
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>({ type: "string", enum: [...words], ...annotations });
}

/** Always present in an answer, null when there is nothing to say. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}
