import { CarillonError, type ErrorCode, type ErrorItem, isErrorCode, isObject, similarWord } from "@carillon/core";
import { isSound, soundPart } from "./check-value.js";
import { Findings } from "./findings.js";
import type { Option } from "./option.js";

/** What the message of a refusal names: the call, and the task or key that it is about. */
export interface OptionCall {
  /** As the user writes it: enqueue, app.worker. */
  readonly name: string;
  readonly subject?: string | undefined;
  /** What is checked; the options by default. */
  readonly noun?: string;
  /** The code of every refusal, where the call configures something; left out: the code of the fault, as a server answers it. */
  readonly code?: ErrorCode;
}

/**
 * Throws a CarillonError that names every option that is unknown, has the wrong type or is out of range, with the option that was
 * probably meant. An option that is undefined counts as left out.
 */
export function checkOptions(schema: Option<unknown>, value: unknown, call: OptionCall): void {
  if (isSound(schema, value)) return;
  const findings = new Findings();
  soundPart(schema, value, "", {
    findings,
    explainUnknown(pointer, parent, name) {
      findings.add(pointer, "unknown_field", unknownText(schema, value, [...namesIn(parent), name]));
      return true;
    },
  });
  throw optionsError(findings.items, call);
}

/** The same for a value that is an argument of its own. */
export function checkArgument(call: OptionCall, check: () => unknown): void {
  const findings = new Findings();
  findings.attempt("", check);
  if (findings.size > 0) throw optionsError(findings.items, call);
}

/** A message has at most this many faults; the items of the error have all. */
const maxLines = 10;

/** The error for faults that were found, one sentence for each. */
export function optionsError(
  items: readonly ErrorItem[],
  { name, subject, noun = "the options", code }: OptionCall,
): CarillonError {
  const call = `${name}(${subject === undefined ? "" : JSON.stringify(subject)})`;
  const texts = items.map((item) => sentenceOf(item, noun));
  const [first] = items;
  const shared = items.every((item) => item.code === first?.code) ? (first?.code ?? "") : "";
  const lines = [...texts.slice(0, maxLines), ...(texts.length > maxLines ? ["…"] : [])].map((text) => `  - ${text}`);
  const message =
    texts.length === 1 ? `${call}: ${texts[0]}` : [`${call}: ${texts.length} options are wrong.`, ...lines].join("\n");
  return new CarillonError(code ?? (isErrorCode(shared) ? shared : "bad_request"), message, { items });
}

/** The details of the checker are sentences without a subject, or about something inside the value. */
function sentenceOf({ pointer, code, detail }: ErrorItem, noun: string): string {
  const place = placeText(namesIn(pointer));
  if (code === "field_missing" && place !== "") return `${place} is required.`;
  if (/^(?:Must|Has|Is|Lies) /.test(detail))
    return `${place === "" ? noun : place} ${detail.charAt(0).toLowerCase()}${detail.slice(1)}`;
  return place === "" ? detail : `${place}: ${detail}`;
}

function namesIn(pointer: string): string[] {
  const names = pointer.split("/").slice(1);
  return names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** As the user writes it: callbacks[0].url */
function placeText(names: readonly string[]): string {
  const text = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`)).join("");
  return text.startsWith(".") ? text.slice(1) : text;
}

/** More names than this are not listed: the type lists them better. */
const maxListed = 12;

function unknownText(schema: Option<unknown>, value: unknown, names: readonly string[]): string {
  const parents = names.slice(0, -1);
  const name = names.at(-1) ?? "";
  const { properties = {}, hints = {}, title } = schemaAt(schema, parents);
  const hint = hints[name.toLowerCase().replaceAll(/[_-]/g, "")];
  if (hint !== undefined) return `Is not an option. ${typeof hint === "string" ? hint : hint(valueAt(value, names))}`;
  const known = Object.keys(properties);
  const meant = similarWord(name, known);
  if (meant !== undefined) return `Is not an option. Did you mean ${placeText([...parents, meant])}?`;
  const list = known.length <= maxListed || title === undefined;
  return `Is not an option. ${list ? `The options are ${known.join(", ")}.` : `The type ${title} lists the options.`}`;
}

function schemaAt(schema: Option<unknown>, [name, ...more]: readonly string[]): Option<unknown> {
  if (name === undefined) return schema;
  const { items, properties = {}, additionalProperties } = schema;
  const inner = Object.hasOwn(properties, name) ? properties[name] : (items ?? additionalProperties);
  return typeof inner === "object" ? schemaAt(inner, more) : {};
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  let at = value;
  for (const name of names) at = Array.isArray(at) ? at[Number(name)] : isObject(at) ? at[name] : undefined;
  return at;
}
