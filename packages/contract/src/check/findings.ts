import { CarillonError, type ErrorCode, type ErrorItem, isErrorCode } from "@carillon/core";
import { limits } from "../bounds.js";

/** RFC 6901. */
export function pointerTo(parent: string, member: string | number): string {
  return `${parent}/${String(member).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A value for a message: short, on one line. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) {
    const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
    return kind === "Object" ? "an object" : `a ${kind}`;
  }
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

/** Collects every fault of a request, so that one answer names them all. */
export class Findings {
  readonly #items: ErrorItem[] = [];
  readonly #root: string;
  #explained: ReadonlySet<string> = new Set();
  #origin = "";

  /** `place` is what the pointers lead into; parameters of a query are written ?name. */
  constructor(place: "body" | "query" = "body") {
    this.#root = place === "query" ? "?" : "/";
  }

  get size(): number {
    return this.#items.length;
  }

  get items(): readonly ErrorItem[] {
    return this.#items;
  }

  /** A part inside had a fault and was left out, so the rest may be faulty only because of the gap. */
  hasInside(pointer: string): boolean {
    const place = `${this.#root}${pointer.slice(1)}/`;
    return this.#items.some((item) => item.pointer.startsWith(place));
  }

  /** The field itself has a recorded fault, and was left out for it: it is not missing besides. */
  hasAt(pointer: string): boolean {
    const place = `${this.#root}${pointer.slice(1)}`;
    return this.#items.some((item) => item.pointer === place);
  }

  /** No more faults are recorded, so there is no use in further checks. */
  get isFull(): boolean {
    return this.#items.length >= limits.findings;
  }

  /** `because` is another field that makes this one faulty. */
  add(pointer: string, code: ErrorCode, detail: string, because = ""): void {
    if (this.isFull) return;
    const full = `${detail}${this.#originOf(pointer, because)}`;
    this.#items.push({ pointer: pointer === "" ? "" : this.#placeOf(pointer), code, detail: full });
  }

  #originOf(pointer: string, because: string): string {
    const [, field = ""] = pointer.split("/", 2);
    if (this.#explained.has(field)) return ` The value is ${this.#origin}.`;
    return this.#explained.has(because) ? ` The value of ${because} is ${this.#origin}.` : "";
  }

  /** These fields are not the caller's own: from now on a fault in them, or because of them, says where they come from. */
  explain(fields: ReadonlySet<string>, origin: string): void {
    this.#explained = fields;
    this.#origin = origin;
  }

  /** A member of a query parameter is a parameter itself, with a dot in its name. */
  #placeOf(pointer: string): string {
    const path = pointer.slice(1);
    return this.#root + (this.#root === "?" ? path.replaceAll("/", ".") : path);
  }

  /** The result of a parser, or undefined with its fault recorded at `pointer`. */
  attempt<Result>(pointer: string, parse: () => Result, because?: string): Result | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      if (error.items.length === 0) this.add(pointer, error.code, error.message, because);
      for (const item of error.items) this.add(`${pointer}${item.pointer}`, error.code, item.detail, because);
      return undefined;
    }
  }

  /**
   * Judges the sound part of a request, then raises the faults that were found. Faulty members were left out, so an error that
   * the judge throws because of such a gap gives way to the recorded faults.
   */
  judge<Result>(judge: () => Result): Result {
    try {
      const result = judge();
      this.raise();
      return result;
    } catch (error) {
      this.raise();
      throw error;
    }
  }

  /** Throws if a fault was recorded. The error has the code that all faults share, else `bad_request`. */
  raise(): void {
    const [first, ...rest] = this.#items;
    if (first === undefined) return;
    const shared = rest.every((item) => item.code === first.code);
    const code = shared && isErrorCode(first.code) ? first.code : "bad_request";
    const detail =
      rest.length === 0
        ? described(first)
        : `The request has ${rest.length + 1} faults, listed in errors. The first is ${described(first)}`;
    throw new CarillonError(code, detail, { items: [...this.#items] });
  }
}

function described(item: ErrorItem): string {
  return item.pointer === "" ? item.detail : `${item.pointer}: ${item.detail}`;
}
