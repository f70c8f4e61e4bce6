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

/** Where the caller wrote a field that was translated. */
interface WrittenPlace {
  readonly from: string;
  /** The value is as the caller wrote it, so pointers into it continue; otherwise they lead to the field as a whole. */
  readonly isSame: boolean;
}

/** Collects every fault of a request, so that one answer names them all. */
export class Findings {
  readonly #items: ErrorItem[] = [];
  /** The pointers of the faults, in our spelling. */
  readonly #pointers: string[] = [];
  readonly #moved = new Map<string, WrittenPlace>();
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
    return this.#pointers.some((one) => one.startsWith(`${pointer}/`));
  }

  /** The field itself has a recorded fault, and was left out for it: it is not missing besides. */
  hasAt(pointer: string): boolean {
    return this.#pointers.includes(pointer);
  }

  /** No more faults are recorded, so there is no use in further checks. */
  get isFull(): boolean {
    return this.#items.length >= limits.findings;
  }

  /** `because` is another field that makes this one faulty. */
  add(pointer: string, code: ErrorCode, detail: string, because = ""): void {
    this.addAt(this.written(pointer), code, `${detail}${this.#originOf(pointer, because)}`);
    this.#pointers.push(pointer);
  }

  /** The same for a pointer to where the caller wrote it. */
  addAt(written: string, code: ErrorCode, detail: string): void {
    if (this.isFull) return;
    this.#items.push({ pointer: written === "" ? "" : this.#placeOf(written), code, detail });
  }

  /** A field was translated into the one at `pointer`: its faults are reported where the caller wrote it. */
  moved(pointer: string, place: WrittenPlace): void {
    this.#moved.set(pointer, place);
  }

  /** No faults, for another check of the same request: fields are where the caller wrote them. */
  emptied(): Findings {
    const same = new Findings(this.#root === "?" ? "query" : "body");
    for (const [pointer, place] of this.#moved) same.moved(pointer, place);
    return same;
  }

  /** Where the caller wrote the field at `pointer`. */
  written(pointer: string): string {
    if (this.#moved.size === 0) return pointer;
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf("/", end - 1)) {
      const place = this.#moved.get(pointer.slice(0, end));
      if (place !== undefined) return place.isSame ? place.from + pointer.slice(end) : place.from;
    }
    return pointer;
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
