import { checkOptions, option } from "@carillon/contract/check";
import { CarillonError, type DurationMs, isObject, parseDuration, similarWord } from "@carillon/core";
import { NonRetryableError } from "../runtime/errors.js";
import type { PayloadFault } from "./executor.js";

/** A payload that its executor cannot execute. Not retryable: the next attempt would get the same payload. */
export class PayloadError extends NonRetryableError {
  override readonly name = "PayloadError";
  readonly faults: readonly PayloadFault[];

  constructor(task: string, faults: readonly PayloadFault[]) {
    const shown = faults.map(({ pointer, message }) => (pointer === "" ? message : `${pointer} ${message}`));
    super(`${task} cannot take this payload: ${shown.join("; ")}`);
    this.faults = faults;
  }
}

export interface TextRules {
  /** The maximum length. */
  readonly max?: number;
  readonly pattern?: RegExp;
  /** The pattern in words, for messages. */
  readonly words?: string;
}

export const textRules = option.object({
  max: option.whole(0),
  pattern: option.custom<RegExp>((value) => value instanceof RegExp, "a regular expression"),
  words: option.text(),
});

type Fields = Readonly<Record<string, unknown>>;

const maxTextLength = 262_144;
const maxItems = 1_000;

/** Reads an object field by field and collects its faults: wrong types, missing fields, unknown names. */
export class PayloadReader {
  readonly #task: string;
  readonly #fields: Fields;
  readonly #pointer: string;
  readonly #faults: PayloadFault[];
  readonly #known = new Set<string>();
  readonly #nested: PayloadReader[] = [];

  constructor(task: string, payload: unknown, pointer = "", faults: PayloadFault[] = []) {
    this.#task = task;
    this.#pointer = pointer;
    this.#faults = faults;
    this.#fields = isObject(payload) ? payload : {};
    if (!isObject(payload) && payload !== null && payload !== undefined) this.#add("", "must be an object");
  }

  has(name: string): boolean {
    this.#known.add(name);
    return Object.hasOwn(this.#fields, name) && this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  /** The value as it is; undefined if it is absent or null. */
  value(name: string): unknown {
    return this.has(name) ? this.#fields[name] : undefined;
  }

  text(name: string, rules: TextRules = {}): string | undefined {
    checkOptions(textRules, rules, { name: "PayloadReader.text", subject: name });
    const { max = maxTextLength, pattern, words } = rules;
    const value = this.#typed(name, "string", "a text") as string | undefined;
    if (value === undefined) return undefined;
    if (value.length > max) return this.#wrong(name, `must have at most ${max} characters`);
    if (pattern !== undefined && !pattern.test(value)) return this.#wrong(name, `must be ${words ?? String(pattern)}`);
    return value;
  }

  requiredText(name: string, rules: TextRules = {}): string {
    if (!this.has(name)) this.fault(name, "is required");
    return this.text(name, rules) ?? "";
  }

  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    return values.find((one) => one === value) ?? this.#wrong(name, `must be one of ${values.join(", ")}`);
  }

  flag(name: string): boolean | undefined {
    return this.#typed(name, "boolean", "true or false") as boolean | undefined;
  }

  whole(name: string, min: number, max: number): number | undefined {
    const value = this.#typed(name, "number", "a number") as number | undefined;
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return value;
    return this.#wrong(name, `must be a whole number from ${min} to ${max}`);
  }

  duration(name: string, maxMs: DurationMs): DurationMs | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    try {
      const durationMs = parseDuration(value);
      return durationMs <= maxMs ? durationMs : this.#wrong(name, `must be at most ${maxMs} ms`);
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      return this.#wrong(name, `must be a duration such as 30s: ${error.message}`);
    }
  }

  /** An object whose values are texts; empty if it is absent. */
  texts(name: string, maxBytes = maxTextLength): Readonly<Record<string, string>> {
    const value = this.value(name);
    if (value === undefined) return {};
    if (!isObject(value) || Object.values(value).some((one) => typeof one !== "string")) {
      this.fault(name, "must be an object of texts");
      return {};
    }
    if (JSON.stringify(value).length > maxBytes) this.fault(name, `must have at most ${maxBytes} bytes`);
    return value as Record<string, string>;
  }

  /** A list of texts; a single text counts as a list of one. */
  list(name: string, max = maxItems): readonly string[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items.some((one) => typeof one !== "string")) return this.#wrong(name, "must be a list of texts");
    if (items.length > max) return this.#wrong(name, `must have at most ${max} entries`);
    return items as readonly string[];
  }

  object(name: string): PayloadReader | undefined {
    if (!this.has(name)) return undefined;
    const nested = new PayloadReader(this.#task, this.#fields[name], this.#at(name), this.#faults);
    this.#nested.push(nested);
    return nested;
  }

  objects(name: string, max: number): readonly PayloadReader[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > max) {
      this.fault(name, `must be a list of at most ${max} objects`);
      return [];
    }
    const readers = value.map((one: unknown, index) => {
      return new PayloadReader(this.#task, one, `${this.#at(name)}/${index}`, this.#faults);
    });
    this.#nested.push(...readers);
    return readers;
  }

  fault(name: string, message: string): void {
    this.#add(name === "" ? "" : `/${escaped(name)}`, message);
  }

  /** Call it after all known fields were read: adds faults for unknown fields, and throws a PayloadError if there are faults. */
  end(): void {
    this.#refuseUnknown();
    if (this.#faults.length > 0) throw new PayloadError(this.#task, this.#faults);
  }

  #refuseUnknown(): void {
    for (const name of Object.keys(this.#fields)) {
      if (this.#known.has(name)) continue;
      const similar = similarWord(name, [...this.#known]);
      this.fault(name, `is not known${similar === undefined ? "" : `; did you mean ${similar}?`}`);
    }
    for (const nested of this.#nested) nested.#refuseUnknown();
  }

  #typed(name: string, type: "string" | "number" | "boolean", words: string): unknown {
    const value = this.value(name);
    return value === undefined || typeof value === type ? value : this.#wrong(name, `must be ${words}`);
  }

  #wrong(name: string, message: string): undefined {
    this.fault(name, message);
    return undefined;
  }

  #add(below: string, message: string): void {
    this.#faults.push({ pointer: `${this.#pointer}${below}`, message });
  }

  #at(name: string): string {
    return `${this.#pointer}/${escaped(name)}`;
  }
}

/** The faults that a reading function finds in a payload. */
export function faultsOf(read: (payload: unknown) => unknown, payload: unknown): readonly PayloadFault[] {
  try {
    read(payload);
    return [];
  } catch (error) {
    if (error instanceof PayloadError) return error.faults;
    throw error;
  }
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
