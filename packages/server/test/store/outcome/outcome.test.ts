import { isWrite, operations, takesIdempotencyKey, type Operation, type OperationId } from "@carillon/contract";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byMethod, keyed, type Prepare } from "./operations.js";
import { type ProxiedApi, proxiedApi } from "./proxied-api.js";

let api: ProxiedApi;
let number = 0;

beforeAll(async () => {
  api = await proxiedApi();
  await api.call("POST", "/v1/runs", { task: "unserved" });
});
afterAll(() => api.close());

/** More than any operation sends. */
const maxMessages = 60;

interface Answer {
  readonly code?: string;
  readonly results?: readonly { readonly problem?: { readonly code: string } }[];
}

/** The code of a refusal. A batch of which a part is done, or may be done, is not a call that did nothing. */
function problemOf(response: LightMyRequestResponse): string {
  if (response.statusCode === 204) return "done";
  const { code = "done", results = [] } = response.json<Answer>();
  const ofItems = results.flatMap(({ problem }) => problem?.code ?? []);
  if (response.statusCode >= 300) return code;
  return ofItems.length === 0 ? "done" : "outcome_unknown";
}

/** The number of rows that differ: a repeated effect leaves another number than a single one. */
const rowsOf = (state: Record<string, string>): Record<string, number> =>
  Object.fromEntries(Object.entries(state).map(([table, text]) => [table, Number(text.split(" ")[0])]));

function growth(before: Record<string, string>, after: Record<string, string>): Record<string, number> {
  const first = rowsOf(before);
  return Object.fromEntries(
    Object.entries(rowsOf(after)).flatMap(([table, rows]) =>
      rows === first[table] ? [] : [[table, rows - (first[table] ?? 0)]],
    ),
  );
}

/** Loses the answer to each message of the call in turn; `check` gets the response and the states around it. */
async function walk(
  prepare: Prepare,
  check: (
    outcome: string,
    before: Record<string, string>,
    again: () => Promise<LightMyRequestResponse>,
  ) => Promise<void>,
  key?: () => string,
): Promise<Set<string>> {
  const outcomes = new Set<string>();
  for (let nth = 1; nth < maxMessages; nth++) {
    const { method, url, body } = await prepare(api, ++number);
    const before = await api.state();
    const ownKey = key?.();
    api.loseAnswer(nth);
    const response = await api.call(method, url, body, ownKey).finally(() => api.violations.splice(0));
    if (!(await api.heal())) {
      if (problemOf(response) !== "done")
        throw new Error(`${url} answered ${response.body} although no answer was lost`);
      return outcomes;
    }
    const outcome = problemOf(response);
    outcomes.add(outcome);
    try {
      await check(outcome, before, () => api.call(method, url, body, ownKey));
    } catch (error) {
      throw new Error(`after the loss of the answer to message ${nth} of ${url} (${outcome}): ${String(error)}`, {
        cause: error,
      });
    }
  }
  throw new Error(`the call sends more than ${maxMessages} messages`);
}

const writes = Object.entries<Operation>(operations).filter(([, one]) => isWrite(one) && one.rateClass !== "worker");

/** Not walked: the callback of an external system needs a run that waits for it; an import answers each line by itself, without a receipt. */
const elsewhere = new Set(["answerCallback", "importRuns"]);

describe("a call whose connection to the database is lost", () => {
  it("is tried for every operation that writes", () => {
    const tried = new Set([...Object.keys(keyed), ...Object.keys(byMethod), ...elsewhere]);
    expect(writes.map(([id]) => id).filter((id) => !tried.has(id))).toEqual([]);
    expect(Object.keys(keyed).every((id) => takesIdempotencyKey(operations[id as OperationId]))).toBe(true);
  });

  it.each(Object.entries({ ...keyed, ...byMethod }))(
    "is answered outcome_unknown by %s if it may have taken effect, and database_unavailable only if it has not",
    async (_id, prepare) => {
      const outcomes = await walk(prepare, async (outcome, before) => {
        expect(["done", "outcome_unknown", "database_unavailable"]).toContain(outcome);
        expect(outcome === "database_unavailable" ? await api.state() : before).toEqual(before);
      });
      expect([...outcomes]).toContain("outcome_unknown");
    },
    60_000,
  );

  it.each(["createRun", "createRuns"] as const)(
    "has its effect exactly once in %s when it is repeated under the key that a client made",
    async (id) => {
      const prepare: Prepare = async () =>
        id === "createRun"
          ? { method: "POST", url: "/v1/runs", body: { task: "unserved", payload: { a: 1 } } }
          : {
              method: "POST",
              url: "/v1/runs:batchCreate",
              body: { runs: [1, 2, 3].map((n) => ({ task: "unserved", payload: n })) },
            };
      await walk(
        prepare,
        async (_outcome, before, again) => {
          const repeated = await again();
          expect(problemOf(repeated)).toBe("done");
          expect(growth(before, await api.state())).toEqual({ run: id === "createRun" ? 1 : 3 });
          const third = await again();
          expect(third.json()).toEqual(repeated.json());
          expect(id === "createRun" ? third.headers["idempotent-replayed"] : "true").toBe("true");
        },
        () => `auto-${api.newId()}`,
      );
    },
    60_000,
  );

  it.each(Object.entries(keyed))(
    "has its effect exactly once in %s when it is repeated with its Idempotency-Key",
    async (id, prepare) => {
      const { method, url, body } = await prepare(api, ++number);
      const clean = await api.state();
      expect(problemOf(await api.call(method, url, body, `clean-${id}`))).toBe("done");
      const once = growth(clean, await api.state());
      await walk(
        prepare,
        async (_outcome, before, again) => {
          // The node releases the key as soon as the database is back.
          await expect.poll(async () => problemOf(await again())).toBe("done");
          const grown = growth(before, await api.state());
          // A purge that lost its connection is finished by the loops of a node, which rest here.
          const isLeft = id === "purgeQueue";
          expect(isLeft ? grown["operation"] : grown).toEqual(isLeft ? 1 : once);
        },
        () => `key-${++number}`,
      );
    },
    60_000,
  );
});
