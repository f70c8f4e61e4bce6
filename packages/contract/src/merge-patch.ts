import { isObject } from "@carillon/core";
import { type Static, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";

/** A value as a merge patch (RFC 7396) can change it: null removes a member, at any depth; lists are replaced whole. */
type Patched<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value]?: Patched<Value[Name]> | null }
    : Value;

interface SchemaParts {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaParts>>;
  readonly additionalProperties?: boolean | SchemaParts;
}

/** The schema of a merge patch for what the given schema describes; without a title, because it is another schema. */
export function mergePatchOf<Schema extends TSchema>(schema: Schema): TUnsafe<Patched<Static<Schema>>> {
  return Type.Unsafe<Patched<Static<Schema>>>(patchable(schema));
}

/** A member that a patch replaces as a whole, and null removes. */
export function wholeOrNull<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  const { title: _, ...rest }: SchemaParts & { readonly title?: string } = schema;
  return Type.Unsafe<Static<Schema> | null>(nullToo(rest));
}

/** The same for a member, which null removes. */
export function removable<Schema extends TSchema>(schema: Schema): TUnsafe<Patched<Static<Schema>> | null> {
  return Type.Unsafe<Patched<Static<Schema>> | null>(nullToo(patchable(schema)));
}

type Removable<Fields extends TProperties> = {
  [Name in keyof Fields]: TOptional<TUnsafe<Patched<Static<Fields[Name]>> | null>>;
};

/** Members that a merge patch may change or remove. */
export function removableFields<Fields extends TProperties>(fields: Fields): Removable<Fields> {
  const entries = Object.entries(fields).map(([name, schema]) => [name, Type.Optional(removable(schema))]);
  return Object.fromEntries(entries) as Removable<Fields>;
}

function patchable(schema: SchemaParts): SchemaParts {
  const {
    title: _,
    required: __,
    allOf: _all,
    anyOf: _any,
    oneOf: _one,
    ...rest
  }: SchemaParts & Record<string, unknown> = { ...schema };
  const { properties, additionalProperties } = schema;
  return {
    ...rest,
    ...(properties && { properties: mapMembers(properties, (member) => nullToo(patchable(member))) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: nullToo(patchable(additionalProperties)) }),
  };
}

/** A schema without a type takes every value, null included. */
function nullToo({ type, const: only, enum: words, ...rest }: SchemaParts): SchemaParts {
  const choice = words ?? (only === undefined ? undefined : [only]);
  return { ...rest, ...(type !== undefined && { type: [type, "null"] }), ...(choice && { enum: [...choice, null] }) };
}

function mapMembers(
  members: Readonly<Record<string, SchemaParts>>,
  change: (member: SchemaParts) => SchemaParts,
): Record<string, SchemaParts> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
}

/** RFC 7396: members of objects are merged, null removes a member, any other value replaces the present one. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
