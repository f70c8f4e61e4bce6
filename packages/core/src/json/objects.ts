export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type OptionalKeys<Fields> = { [Name in keyof Fields]: undefined extends Fields[Name] ? Name : never }[keyof Fields];

/** Fields without those that are undefined: a member that was not given stays absent, instead of being there as undefined. */
export function present<Fields extends object>(
  fields: Fields,
): Omit<Fields, OptionalKeys<Fields>> & { [Name in OptionalKeys<Fields>]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
