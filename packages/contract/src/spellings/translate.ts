import { isObject } from "@carillon/core";
import { Findings, pointerTo } from "../check/findings.js";
import {
  bodyHints,
  type BodySpelling,
  bodySpellings,
  type Meaning,
  queryHints,
  querySpellings,
  type SpelledBody,
} from "./table.js";

const rowsOf = (kind: SpelledBody): readonly BodySpelling[] => bodySpellings.filter(({ of }) => of.includes(kind));
const firstNameOf = (path: string): string => path.split(".", 1)[0] ?? "";
const pointerOf = (path: string): string => path.split(".").reduce<string>(pointerTo, "");

const tables = { job: tableOf("job"), run: tableOf("run") } as const;

function tableOf(kind: SpelledBody) {
  const rows = rowsOf(kind);
  const hints = new Map(bodyHints.filter(({ of }) => of.includes(kind)).map(({ theirs, hint }) => [theirs, hint]));
  return { rows, hints, names: new Set(rows.map(({ theirs }) => firstNameOf(theirs))) };
}

/** Whether a body has a field in the spelling of another system. */
export function hasOtherSpelling(body: unknown, kind: SpelledBody): boolean {
  return isObject(body) && tables[kind].rows.some((row) => appliesTo(row, memberAt(body, row.theirs)));
}

/** Why a field is refused that has more than one meaning; undefined for any other name. */
export function hintFor(kind: SpelledBody, name: string): string | undefined {
  return tables[kind].hints.get(name);
}

/**
 * The body in our spelling. Faults that are found in a translated field later are reported where the caller wrote it. Two fields of one
 * meaning are accepted if they have the same value, and refused by both names otherwise.
 */
export function translateBody(body: unknown, kind: SpelledBody, findings: Findings): unknown {
  const { rows, names } = tables[kind];
  if (!isObject(body) || !Object.keys(body).some((name) => names.has(name))) return body;
  return rows.reduce((translated, row) => translateField(translated, row, findings), body);
}

/** A body in our spelling, for readers who leave its faults to the check that follows. */
export function inOurSpelling(
  body: Readonly<Record<string, unknown>>,
  kind: SpelledBody,
): Readonly<Record<string, unknown>> {
  const translated = translateBody({ ...body }, kind, new Findings());
  return isObject(translated) ? translated : body;
}

type Body = Record<string, unknown>;

function translateField(body: Body, row: BodySpelling, findings: Findings): Body {
  const value = memberAt(body, row.theirs);
  if (!appliesTo(row, value)) return body;
  const from = findings.written(pointerOf(row.theirs));
  const rest = withoutMember(body, row.theirs);
  const meaning = meaningOf(row, value);
  if ("refusal" in meaning) {
    findings.add(pointerOf(row.theirs), "field_invalid", meaning.refusal);
    return rest;
  }
  let translated = rest;
  for (const [ours, own] of Object.entries(meaning.ours)) {
    const present = memberAt(translated, ours);
    if (present === undefined) {
      findings.moved(pointerOf(ours), { from, isSame: row.read === undefined });
      translated = withMember(translated, ours, own);
    } else if (!isSame(present, own)) {
      const other = findings.written(pointerOf(ours));
      const detail = `Means the same as ${other}, which has another value. Send only one of ${from} and ${other}.`;
      findings.addAt(from, "field_invalid", detail);
    }
  }
  return translated;
}

function appliesTo({ applies }: BodySpelling, value: unknown): boolean {
  return value !== undefined && (applies === undefined || applies(value));
}

/** A null removes the field of a patch; elsewhere the schema refuses it. */
function meaningOf({ ours, read }: BodySpelling, value: unknown): Meaning {
  if (read === undefined) return { ours: { [ours]: value } };
  return value === null ? { ours: { [ours.split(/[ ,]/, 1)[0] ?? ""]: null } } : read(value);
}

function memberAt(body: Body, path: string): unknown {
  const [name = "", member] = path.split(".", 2);
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (member === undefined) return value;
  return isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
}

function withoutMember(body: Body, path: string): Body {
  const [name = "", member] = path.split(".", 2);
  const { [name]: value, ...rest } = body;
  return member !== undefined && isObject(value) ? { ...rest, [name]: withoutMember(value, member) } : rest;
}

function withMember(body: Body, path: string, value: unknown): Body {
  const [name = "", member] = path.split(".", 2);
  if (member === undefined) return { ...body, [name]: value };
  const parent = body[name];
  // A parent that is no object keeps its value, which the schema refuses.
  if (parent !== undefined && parent !== null && !isObject(parent)) return body;
  return { ...body, [name]: { ...(isObject(parent) ? parent : {}), [member]: value } };
}

function isSame(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return JSON.stringify(a) === JSON.stringify(b);
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isSame(a[name], b[name]));
}

/** The parameters of a query in our names. `known` are those of the operation. */
export function translateQuery(
  given: readonly (readonly [string, unknown])[],
  known: Readonly<Record<string, unknown>>,
  findings: Findings,
): [string, unknown][] {
  const translated = new Map<string, unknown>();
  const writtenAs = new Map<string, string>();
  for (const [name, value] of given) {
    const ours = Object.hasOwn(known, name) ? undefined : querySpellings.find((row) => row.theirs === name)?.ours;
    const target = ours !== undefined && Object.hasOwn(known, ours) ? ours : name;
    const other = writtenAs.get(target);
    if (other !== undefined && translated.get(target) !== value) {
      findings.addAt(
        `/${name}`,
        "field_invalid",
        `Means the same as ?${other}, which has another value. Send only one of ?${name} and ?${other}.`,
      );
      continue;
    }
    if (target !== name) findings.moved(`/${target}`, { from: `/${name}`, isSame: true });
    translated.set(target, value);
    writtenAs.set(target, name);
  }
  return [...translated];
}

export const hintForParameter = (name: string): string | undefined =>
  Object.hasOwn(queryHints, name) ? queryHints[name] : undefined;
