import { CarillonError, errorCatalogue, type ErrorCode, type ErrorItem } from "@carillon/core";
import { limits } from "../bounds.js";

/** RFC 6901. */
export function pointerTo(parent: string, member: string | number): string {
  return `${parent}/${String(member).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A value as it can stand in a message: short, on one line. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}

/** Collects every fault of a request, so that one answer names them all. */
export class Findings {
  readonly #items: ErrorItem[] = [];
  readonly #root: string;
  #explained: ReadonlySet<string> = new Set();
  #origin = "";

  /** `place` says what the pointers lead into; a query's parameters are written ?name. */
  constructor(place: "body" | "query" = "body") {
    this.#root = place === "query" ? "?" : "/";
  }

  get size(): number {
    return this.#items.length;
  }

  /** Something inside was found wrong and left out: what is left may be wrong for that reason alone. */
  hasInside(pointer: string): boolean {
    const place = `${this.#root}${pointer.slice(1)}/`;
    return this.#items.some((item) => item.pointer.startsWith(place));
  }

  /** A fault of the field itself is known: that it is missing from what is left is no other one. */
  hasAt(pointer: string): boolean {
    const place = `${this.#root}${pointer.slice(1)}`;
    return this.#items.some((item) => item.pointer === place);
  }

  /** Nothing more will be recorded: looking for more faults is work for nobody. */
  get isFull(): boolean {
    return this.#items.length >= limits.findings;
  }

  /** `because` names another field that makes it a fault. */
  add(pointer: string, code: ErrorCode, detail: string, because = ""): void {
    if (this.isFull) return;
    const said = `${detail}${this.#originOf(pointer, because)}`;
    this.#items.push({ pointer: pointer === "" ? "" : this.#placeOf(pointer), code, detail: said });
  }

  #originOf(pointer: string, because: string): string {
    const [, field = ""] = pointer.split("/", 2);
    if (this.#explained.has(field)) return ` (this is ${this.#origin})`;
    return this.#explained.has(because) ? ` (${because} is ${this.#origin})` : "";
  }

  /** Faults of these fields, or by them, are not the caller's own: from now on they are told with what the fields are. */
  explain(fields: ReadonlySet<string>, origin: string): void {
    this.#explained = fields;
    this.#origin = origin;
  }

  /** What is inside a query's parameter is a parameter itself, with a dot in its name. */
  #placeOf(pointer: string): string {
    const path = pointer.slice(1);
    return this.#root + (this.#root === "?" ? path.replaceAll("/", ".") : path);
  }

  /** The result of a parser of core, or undefined with its fault recorded at `pointer`. */
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
   * Judges what is left of a request, then raises what was found. What was faulty was left out: a judge that stumbles over the gap has
   * nothing to add to why.
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

  /** Throws if anything was found. The error's code is the one that all faults share, else `bad_request`. */
  raise(): void {
    const [first, ...rest] = this.#items;
    if (first === undefined) return;
    const shared = rest.every((item) => item.code === first.code);
    const code = shared && isErrorCode(first.code) ? first.code : "bad_request";
    const detail =
      rest.length === 0
        ? described(first)
        : `${rest.length + 1} faults, all listed in errors; the first: ${described(first)}`;
    throw new CarillonError(code, detail, { items: [...this.#items] });
  }
}

function described(item: ErrorItem): string {
  return item.pointer === "" ? item.detail : `${item.pointer}: ${item.detail}`;
}

/** Items carry their code as plain text. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
