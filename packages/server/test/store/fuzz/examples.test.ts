import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApi, realApi } from "../api/real-api.js";
import { documented } from "./from-document.js";
import { Things } from "./things.js";

let api: RealApi;
const things = new Things();

beforeAll(async () => {
  api = await realApi();
  await things.make(api);
  await api.rest();
}, 60_000);
afterAll(() => api.close());

/** Examples name jobs, times and versions of their own: the state of a server may refuse them. */
const byState = new Set([404, 409, 410, 412]);

it.each(documented.flatMap((one) => (one.example === undefined ? [] : ([one] as const))))(
  "the example of the body of $id is accepted by a real server",
  async (operation) => {
    const { method, path, parameters, bodyTypes, example } = operation;
    const named = new Map(
      parameters.map((one) => [one.name, things.known(operation, one) ?? things.existing(one.schema) ?? "x"]),
    );
    const { statusCode, body } = await api.call({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named.get(name) ?? ""),
      headers: { "content-type": bodyTypes[0] ?? "" },
      payload: JSON.stringify(example),
    });
    expect(statusCode < 300 || byState.has(statusCode) ? null : body).toBeNull();
  },
);
