import { checkJsonValue, checkValue, Findings } from "@carillon/contract";
import { Type, type Static, type TObject } from "typebox";

const noParameters = Type.Object({}, { additionalProperties: false });

/**
 * Reads a query string by its schema. Texts become numbers only where the schema asks for one; a parameter that is unknown
 * or given twice is refused, because a filter that is silently ignored shows the wrong rows.
 */
export function readQuery<Schema extends TObject>(schema: Schema | undefined, raw: unknown): Static<Schema> {
  const findings = new Findings("query");
  const expected: TObject = schema ?? noParameters;
  const given: [string, unknown][] = Object.entries(raw ?? {});
  const read = gathered(
    expected,
    given.map(([name, value]) => [name, readParameter(expected, name, value, findings)]),
  );
  checkJsonValue(read, findings);
  const sound = checkValue(expected, read, { findings });
  findings.raise();
  return sound as Static<Schema>;
}

/** `payload.a.b=c` is a member of the parameter payload, where the schema has a record of that name. */
function gathered(schema: TObject, given: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const isRecord = (name: string): boolean => "propertyNames" in (schema.properties[name] ?? {});
  const query: Record<string, unknown> = {};
  for (const [name, value] of given) {
    const dot = name.indexOf(".");
    const record = name.slice(0, Math.max(dot, 0));
    if (dot !== -1 && isRecord(record)) {
      query[record] = { ...(query[record] as object | undefined), [name.slice(dot + 1)]: value };
    } else query[name] = value;
  }
  return query;
}

function readParameter(schema: TObject, name: string, value: unknown, findings: Findings): unknown {
  if (Array.isArray(value)) {
    findings.add(`/${name}`, "field_invalid", "is given more than once; separate several values by commas");
    return value[0];
  }
  const property: { readonly type?: unknown } = schema.properties[name] ?? {};
  const isNumber = property.type === "integer" && typeof value === "string" && /^-?\d{1,400}$/.test(value);
  // Larger numbers than can be told apart are all "very large", which page_size takes as its largest.
  return isNumber ? Math.max(-1, Math.min(Number(value), Number.MAX_SAFE_INTEGER)) : value;
}
