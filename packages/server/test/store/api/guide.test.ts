import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApi, realApi } from "./real-api.js";

const guides = ["api", "policies", "queues", "limits-and-fairness", "events"] as const;
const pageOf = (guide: string): string =>
  readFileSync(new URL(`../../../../../docs/guides/${guide}.md`, import.meta.url), "utf8");

interface Example {
  readonly line: string;
  readonly method: "GET" | "PUT" | "PATCH" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload?: string;
  readonly status: number;
}

/** Reads the few forms of a curl line that the guide uses; anything else is a mistake of the guide. */
function exampleOf(line: string): Example {
  const [command = "", status = ""] = line.split(/ {2}# (?=\d{3}$)/);
  const words = command.match(/'[^']*'|"[^"]*"|\S+/g)?.map((word) => word.replace(/^(['"])(.*)\1$/, "$2")) ?? [];
  const headers: Record<string, string> = {};
  let [method, url, payload]: [Example["method"], string, string | undefined] = ["GET", "", undefined];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const value = words[at + 1] ?? "";
    if (word === "-sS") continue;
    if (word.startsWith("$api")) url = word.replace("$api", "/v1");
    else if (word === "-X") method = value as Example["method"];
    else if (word === "-d") payload = value;
    else if (word === "-H") {
      const [name = "", content = ""] = (value === "$json" ? "content-type: application/json" : value).split(": ");
      headers[name] = content;
    } else throw new Error(`the guide has a word that is not understood: ${word}`);
    if (word.startsWith("-")) at += 1;
  }
  return { line, method, url, headers, ...(payload !== undefined && { payload }), status: Number(status) };
}

const examplesOf = (guide: string): Example[] =>
  pageOf(guide)
    .split("\n")
    .filter((line) => line.startsWith("curl "))
    .map(exampleOf);

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

it.each(guides)("has calls that all do what the guide says, in its order: %s", async (guide) => {
  const examples = examplesOf(guide);
  expect(examples.length).toBeGreaterThan(5);
  const answered: string[] = [];
  for (const { method, url, headers, payload } of examples) {
    const body = payload === undefined ? {} : { payload };
    const { statusCode } = await api.call({ method, url, headers, ...body });
    answered.push(`${method} ${url} ${payload ?? ""} # ${statusCode}`);
  }
  expect(answered).toEqual(
    examples.map(({ method, url, payload, status }) => `${method} ${url} ${payload ?? ""} # ${status}`),
  );
});
