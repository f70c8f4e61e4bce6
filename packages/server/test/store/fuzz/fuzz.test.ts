import type { LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApi, realApi } from "../api/real-api.js";
import { documented } from "./from-document.js";
import { type DrawnRequest, type Fault, RequestSource } from "./requests.js";
import { Things } from "./things.js";

/** Set by `npm run fuzz -- --requests 20000 --seed 7`; without it, the same short run every time. */
const seed = Number(process.env["CARILLON_FUZZ_SEED"] ?? 20_261_119);
const roundsPerOperation = 8;
const requests = Number(process.env["CARILLON_FUZZ_REQUESTS"] ?? documented.length * roundsPerOperation);

let api: RealApi;
const things = new Things();

beforeAll(async () => {
  api = await realApi();
  await things.make(api);
  // The loops are stopped: from now on only requests change rows.
  await api.rest();
}, 60_000);
afterAll(() => api.close());

/** Valid and invalid requests to every operation, in turn. */
function* drawn(source: RequestSource): Generator<DrawnRequest> {
  for (let round = 0; ; round += 1) {
    for (const operation of documented) {
      const request = round % 2 === 0 ? source.valid(operation) : source.invalid(operation);
      if (request !== null) yield request;
    }
  }
}

/**
 * Calls that need a state which no other call here makes, such as a waiting handler or an open breaker, that a random body rarely fits, or that only `carillon dev`
 * serves.
 */
const rarelyAccepted = new Set(
  "answerCallback getBreaker resetBreaker getErrorGroup getDelivery redeliver getBackfill abortBackfill rollbackJob retryJob backfillJob putCalendar putJob listMails getMail".split(
    " ",
  ),
);

interface ProblemBody {
  readonly code: string;
  readonly errors: readonly { readonly pointer: string; readonly code: string }[];
}

/** Statuses of calls that the state of the server refuses: the document names them. */
const stateStatuses = new Set([404, 409, 410, 412]);

/** Why the answer to a request contradicts the document, or null. */
function contradiction(
  { operation, fault }: DrawnRequest,
  { statusCode, body }: LightMyRequestResponse,
): string | null {
  if (statusCode >= 500) return "the server failed";
  if (statusCode < 300) return fault === null ? null : acceptedFault(fault, body);
  const { code, errors } = JSON.parse(body) as ProblemBody;
  if (stateStatuses.has(statusCode) || code === "idempotency_key_reused") return null;
  if (fault === null) {
    const codes = errors.length === 0 ? [code] : errors.map((one) => one.code);
    const unexplained = codes.filter((one) => !operation.ruleCodes.has(one));
    return unexplained.length === 0 ? null : `valid by the document, but refused with ${unexplained.join(", ")}`;
  }
  return fault.pointer === null || errors.some((one) => isAt(one.pointer, fault))
    ? null
    : `no error names ${fault.pointer}`;
}

/** A fault in one item of a batch is in the result of the item. */
function acceptedFault({ itemOf, kind, pointer }: Fault, body: string): string | null {
  if (itemOf !== undefined) {
    const { results } = JSON.parse(body) as { results: readonly { problem?: unknown }[] };
    if (results[itemOf]?.problem !== undefined) return null;
  }
  // A stream of lines has the result of its first line in the first line of the answer.
  const [line = ""] = body.split("\n", 1);
  if (line.startsWith('{"line":1,') && line.includes('"problem":')) return null;
  return `invalid by the document (${kind} at ${pointer}), but accepted`;
}

/** An error may name the place itself, or for a rule between members one of the members. */
function isAt(given: string, { pointer, kind }: Fault): boolean {
  if (pointer === null || given === pointer) return true;
  const isInside = given.startsWith(`${pointer}/`) || given.startsWith(`${pointer}.`);
  return isInside || (kind === "rule" && given.startsWith(pointer));
}

it(`answers ${requests} requests, valid and invalid, as its document says, and changes no row when it refuses`, async () => {
  const source = new RequestSource(seed, things.known, things.existing);
  const accepted = new Map<string, number>();
  const refusals = new Map<string, number>();
  const faults: string[] = [];
  let sent = 0;
  for (const request of drawn(source)) {
    if (sent >= requests || faults.length >= 20) break;
    sent += 1;
    const before = await api.mark();
    const response = await api.app.inject(request.options);
    const { method, url, payload = "" } = request.options;
    const what = `${request.fault?.kind ?? "valid"} ${request.fault?.pointer ?? ""} ${method} ${url} ${payload.slice(0, 400)}`;
    const shown = (why: string) => `${why}: ${what}\n    ${response.statusCode} ${response.body.slice(0, 400)}`;
    faults.push(...api.violations.splice(0).map(shown));
    const why = contradiction(request, response);
    if (why !== null) faults.push(shown(why));
    if (response.statusCode >= 400 && (await api.mark()) !== before) faults.push(shown("a refused call changed a row"));
    if (response.statusCode < 300) {
      things.learn(response.body);
      if (request.fault === null) count(accepted, request.operation.id);
    } else if (request.fault !== null && !stateStatuses.has(response.statusCode)) count(refusals, request.fault.kind);
  }
  if (process.env["CARILLON_FUZZ_REQUESTS"] !== undefined) console.log("accepted", accepted, "refused", refusals);
  expect(faults).toEqual([]);
  if (requests < documented.length * roundsPerOperation) return;
  // Otherwise too few requests were valid or nearly valid, and the test would prove little.
  expect(documented.map(({ id }) => id).filter((id) => !accepted.has(id) && !rarelyAccepted.has(id))).toEqual([]);
  const often = ["type", "required", "range", "pattern", "unknown", "query unknown"];
  // A short run draws few bodies with these.
  const kinds = requests < 2_500 ? often : [...often, "enum", "format", "rule"];
  expect(kinds.filter((kind) => !refusals.has(kind))).toEqual([]);
}, 3_600_000);

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
