import type { AnswerOf, BodyOf, Operation, OperationId, operations, QueryOf } from "@carillon/contract";
import { checkCallOptions } from "./options.js";
import type { CallOptions, HttpQuery, Transport } from "./transport.js";

/** What a method of the client must know of its operation at run time. */
export interface Route {
  readonly id: OperationId;
  /** The method and the path: each name in braces is an argument of its own, in this order. */
  readonly call: `${Operation["method"]} ${string}`;
  /** The call has a body; with a name, the argument is this member of it. */
  readonly body?: true | string;
  readonly query?: true;
  /** The call can wait for its run: by an option, not by an argument. */
  readonly wait?: true;
  /** Statuses that are answers, not refusals, although they are not 2xx. */
  readonly alsoGood?: readonly number[];
}

type Routes = Readonly<Record<string, Route>>;

export type MethodsOf<Group extends Routes> = { readonly [Name in keyof Group]: MethodOf<Group[Name]["id"]> };

/** A method takes the names of its path, the body, the query and options, as far as the operation has them. */
export type MethodOf<Id extends OperationId> = MethodFor<(typeof operations)[Id]>;

type MethodFor<Op extends Operation> = (
  ...given: [...PathArguments<Op["path"]>, ...BodyArgument<Op>, ...QueryArgument<Op>, options?: OptionsFor<Op>]
) => Promise<AnswerOf<Op>>;

type PathArguments<Path extends string> = Path extends `${string}{id}${string}{${string}}${string}`
  ? [id: string, inner: string]
  : Path extends `${string}{id}${string}`
    ? [id: string]
    : Path extends `${string}{${string}}${string}`
      ? [name: string]
      : [];

type BodyArgument<Op extends Operation> = Op extends { readonly clientBody: keyof BodyOf<Op> }
  ? [body: Readonly<BodyOf<Op>[Op["clientBody"]]>]
  : Op extends { readonly bodyOptional: true }
    ? [body?: BodyOf<Op>]
    : Op extends { readonly body: object }
      ? [body: BodyOf<Op>]
      : [];

type QueryArgument<Op extends Operation> = [keyof Omit<QueryOf<Op>, "wait">] extends [never]
  ? []
  : [query?: QueryOf<Op>];

/** CallOptions, and what only some calls take. */
export type OptionsOf<Id extends OperationId> = OptionsFor<(typeof operations)[Id]>;

type OptionsFor<Op extends Operation> = CallOptions &
  (Op extends { readonly method: "POST"; readonly rateClass: "write" | "bulk" } ? KeyOption : unknown) &
  (Op extends { readonly conditional: true } ? VersionOption : unknown) &
  ("wait" extends keyof QueryOf<Op> ? WaitOption : unknown);

export interface KeyOption {
  /** Names this call for a day. Sent again with the same request, it gets the first answer and changes nothing. */
  readonly idempotencyKey?: string;
}

export interface VersionOption {
  /** The version that the change is based on. The server refuses the call with 412 if the resource has another one by then. */
  readonly ifVersion?: number;
}

export interface WaitOption {
  /** The server answers when the run has ended, or after this time: 10s. */
  readonly wait?: string;
}

/** The methods of a group, each of which sends its arguments where the route says. */
export function methodsOf<Group extends Routes>(group: Group, call: Transport): MethodsOf<Group> {
  const methods = Object.entries(group).map(([name, route]) => [name, methodOf(route, call)]);
  return Object.fromEntries(methods) as MethodsOf<Group>;
}

export function methodOf<Of extends Route>(route: Of, call: Transport): MethodOf<Of["id"]> {
  const [method, template] = partsOf(route.call);
  const send = (...args: unknown[]) => {
    const left = [...args];
    const path = template.replaceAll(/\{\w+\}/g, () => segment(String(left.shift())));
    const body = route.body && bodyOf(route.body, left.shift());
    const query = route.query && (left.shift() as HttpQuery);
    const given = left.shift();
    if (given !== undefined) checkCallOptions(route, given);
    const { wait, ...options } = (given ?? {}) as CallOptions & WaitOption;
    return call({
      ...options,
      method,
      path,
      body,
      query: { ...query, ...(route.wait && { wait }) },
      ...(route.alsoGood && { alsoGood: route.alsoGood }),
    });
  };
  return send as MethodOf<Of["id"]>;
}

function partsOf(call: Route["call"]): [method: Operation["method"], path: string] {
  const [method, path] = call.split(" ", 2);
  return [method as Operation["method"], path ?? ""];
}

function bodyOf(body: true | string, given: unknown): unknown {
  return body === true ? (given ?? {}) : { [body]: given };
}

/** One step of a path. URL parsers on the way would read dots alone as "this folder" and "the folder above". */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new RangeError(`${JSON.stringify(text)} cannot be an id or a key here.`);
  return encodeURIComponent(text);
}
