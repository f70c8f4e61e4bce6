import { type TSchema, type TUnsafe, Type } from "typebox";
import { isObject } from "./check/check-value.js";

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

/** The schema of a patch of what the given schema describes; without a title, because it is another schema. */
export function mergePatchOf<Value>(schema: TSchema): TUnsafe<Patched<Value>> {
  return Type.Unsafe<Patched<Value>>(patchable(schema));
}

/** The same for a member, which null removes. */
export function removable<Value>(schema: TSchema): TUnsafe<Patched<Value> | null> {
  return Type.Unsafe<Patched<Value> | null>(nullToo(patchable(schema)));
}

function patchable(schema: SchemaParts): SchemaParts {
  const { title: _, required: __, ...rest } = plain(schema);
  const { properties, additionalProperties } = schema;
  return {
    ...rest,
    ...(properties && { properties: mapMembers(properties, (member) => nullToo(patchable(member))) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: nullToo(patchable(additionalProperties)) }),
  };
}

/** What has no type takes every value, null included. */
function nullToo({ type, const: only, enum: words, ...rest }: SchemaParts): SchemaParts {
  const choice = words ?? (only === undefined ? undefined : [only]);
  return { ...rest, ...(type !== undefined && { type: [type, "null"] }), ...(choice && { enum: [...choice, null] }) };
}

function plain(schema: SchemaParts): SchemaParts & { title?: unknown; required?: unknown } {
  return { ...schema };
}

function mapMembers(
  members: Readonly<Record<string, SchemaParts>>,
  change: (member: SchemaParts) => SchemaParts,
): Record<string, SchemaParts> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
}

/** RFC 7396: members of objects are merged, null removes one, everything else takes the place of what was there. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
