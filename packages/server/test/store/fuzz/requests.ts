import * as fc from "fast-check";
import type { DocumentedOperation, DocumentedParameter } from "./from-document.js";
import { mutantsOf, wrongParameters } from "./mutations.js";
import { type Draw, typeOf, valid } from "./values.js";

export interface SentRequest {
  readonly method: DocumentedOperation["method"];
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload?: string;
}

/** A request, and what the document says about it. */
export interface DrawnRequest {
  readonly operation: DocumentedOperation;
  readonly options: SentRequest;
  /** The one fault; null: the request is valid by the document. */
  readonly fault: Fault | null;
}

export interface Fault {
  readonly kind: string;
  /** As an error names it: a JSON pointer into the body, ?name, or the name of a header; null: the error names none. */
  readonly pointer: string | null;
  /** The number of the result that reports it, in a batch whose items are refused one by one. */
  readonly itemOf?: number;
}

/** Names of existing things for the parameters of an address. */
export type Known = (operation: DocumentedOperation, parameter: DocumentedParameter) => string | null;

interface Drawn {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export class RequestSource {
  readonly #known: Known;
  readonly #existing: Draw["existing"];
  #seed: number;

  constructor(seed: number, known: Known, existing: Draw["existing"]) {
    this.#seed = seed;
    this.#known = known;
    this.#existing = existing;
  }

  /** A request that is valid by the document. */
  valid(operation: DocumentedOperation): DrawnRequest {
    return { operation, options: optionsOf(operation, this.#draw(operation)), fault: null };
  }

  /** The same with one fault; null: the document refuses nothing here. */
  invalid(operation: DocumentedOperation): DrawnRequest | null {
    const drawn = this.#draw(operation);
    const faulty = [
      ...bodyFaults(operation, drawn),
      ...parameterFaults(operation, drawn),
      ...contentFaults(operation, drawn),
    ];
    const kinds = [...new Set(faulty.map(({ fault }) => fault.kind))];
    const kind = kinds[this.#pick(kinds.length)];
    const among = faulty.filter(({ fault }) => fault.kind === kind);
    const chosen = among[this.#pick(among.length)];
    return chosen === undefined ? null : { operation, ...chosen };
  }

  #pick(count: number): number {
    return count === 0 ? 0 : this.#sample(fc.nat(count - 1));
  }

  #sample<Value>(drawn: fc.Arbitrary<Value>): Value {
    this.#seed = (this.#seed + 0x9e3779b1) | 0;
    for (const value of fc.sample(drawn, { numRuns: 1, seed: this.#seed })) return value;
    throw new Error("No value was drawn.");
  }

  #draw(operation: DocumentedOperation): Drawn {
    const draw: Draw = { existing: this.#existing, isShort: operation.waits };
    const sent = (place: "path" | "query" | "header"): Record<string, string> => {
      const chosen = operation.parameters.filter((one) => {
        if (one.in !== place) return false;
        const isUsual = one.required || (operation.waits && place === "query" && isWait(one));
        return isUsual || this.#sample(fc.nat(place === "header" ? 9 : 3)) === 0;
      });
      return Object.assign({}, ...chosen.map((one) => this.#parameter(operation, one, draw))) as Record<string, string>;
    };
    const { body, isBodyRequired } = operation;
    const hasBody = body !== undefined && (isBodyRequired || operation.waits || this.#sample(fc.nat(4)) > 0);
    return {
      path: sent("path"),
      query: sent("query"),
      headers: sent("header"),
      body: hasBody ? this.#sample(valid(body, draw)) : undefined,
    };
  }

  #parameter(operation: DocumentedOperation, parameter: DocumentedParameter, draw: Draw): Record<string, string> {
    const { name, schema } = parameter;
    const known = this.#known(operation, parameter);
    if (known !== null && this.#sample(fc.nat(9)) > 0) return { [name]: known };
    if (name === "follow") return { [name]: "false" };
    const value = this.#sample(valid(schema, draw));
    // A record is one parameter for each member.
    return typeOf(schema) === "object" ? (value as Record<string, string>) : { [name]: String(value) };
  }
}

const isWait = ({ name }: DocumentedParameter): boolean => name === "wait" || name === "follow";

function optionsOf(operation: DocumentedOperation, { path, query, headers, body }: Drawn): SentRequest {
  const address = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const type = operation.bodyTypes[0] ?? "application/json";
  return {
    method: operation.method,
    url: pairs.length === 0 ? address : `${address}?${pairs.join("&")}`,
    headers: { ...(body !== undefined && { "content-type": type }), ...headers },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  };
}

type Faulty = Pick<DrawnRequest, "options"> & { readonly fault: Fault };

function bodyFaults(operation: DocumentedOperation, drawn: Drawn): Faulty[] {
  const { body: schema } = operation;
  if (schema === undefined) {
    if (operation.method === "GET") return [];
    const options = optionsOf(operation, { ...drawn, body: { surprise: 1 } });
    return [{ options, fault: { kind: "body", pointer: null } }];
  }
  if (drawn.body === undefined) return [];
  return mutantsOf(schema, drawn.body).map(({ kind, pointer, value, itemOf }) => ({
    options: optionsOf(operation, { ...drawn, body: value }),
    fault: { kind, pointer, ...(itemOf !== undefined && { itemOf }) },
  }));
}

const placeOf = ({ in: place, name }: DocumentedParameter): string | null =>
  place === "query" ? `?${name}` : place === "header" && name !== "Carillon-Namespace" ? name : null;

function parameterFaults(operation: DocumentedOperation, drawn: Drawn): Faulty[] {
  const faults = operation.parameters.flatMap((parameter) =>
    wrongParameters(parameter).map(({ kind, text }) => {
      const { name, in: place } = parameter;
      const part = place === "header" ? "headers" : place;
      const options = optionsOf(operation, { ...drawn, [part]: { ...drawn[part], [name]: text } });
      return { options, fault: { kind: `${place} ${kind}`, pointer: placeOf(parameter) } };
    }),
  );
  if (!operation.refusesUnknownParameters) return faults;
  const unknown = optionsOf(operation, { ...drawn, query: { ...drawn.query, surprise: "1" } });
  return [...faults, { options: unknown, fault: { kind: "query unknown", pointer: "?surprise" } }];
}

function contentFaults(operation: DocumentedOperation, drawn: Drawn): Faulty[] {
  if (operation.body === undefined) return [];
  const missing = optionsOf(operation, { ...drawn, body: undefined });
  const options = optionsOf(operation, drawn);
  const typed = { ...options, headers: { ...options.headers, "content-type": "text/plain" } };
  const broken = { ...options, payload: (options.payload ?? "").slice(0, -1) };
  return [
    ...(operation.isBodyRequired ? [{ options: missing, fault: { kind: "body missing", pointer: null } }] : []),
    ...(drawn.body === undefined ? [] : [{ options: typed, fault: { kind: "content type", pointer: null } }]),
    ...(drawn.body === undefined ? [] : [{ options: broken, fault: { kind: "json", pointer: null } }]),
  ];
}
