import type { RunLog } from "@carillon/contract";
import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

async function withLines(count: number) {
  const api = apiUnderTest();
  await api.post("/v1/runs", { task: "echo" });
  const id = formatId("run", api.engine.runs.stored[0]?.id ?? "");
  for (let number = 1; number <= count; number++) {
    api.engine.runs.lines.push({
      fence: 1,
      number,
      at: 1_000 * number,
      level: "info",
      message: `line ${number}`,
      fields: null,
    });
  }
  return { api, id };
}

describe("logs of runs", () => {
  it("pages of a log contain every line once, in order", async () => {
    const { api, id } = await withLines(5);
    const seen: number[] = [];
    let token: string | null = "";
    while (token !== null) {
      const page: RunLog = (await api.get(`/v1/runs/${id}/logs?page_size=2${token && `&page_token=${token}`}`)).json();
      seen.push(...page.lines.map((line) => line.number));
      token = page.next_page_token;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  it("a follower gets a next page until no more lines will follow", async () => {
    const { api, id } = await withLines(1);
    const first: RunLog = (await api.get(`/v1/runs/${id}/logs?follow=true`)).json();
    expect(first.lines).toEqual([
      { at: "1970-01-01T00:00:01.000Z", level: "info", message: "line 1", fields: null, fence: 1, number: 1 },
    ]);
    const token = first.next_page_token ?? "";
    const second: RunLog = (await api.get(`/v1/runs/${id}/logs?follow=true&page_token=${token}`)).json();
    expect(second).toEqual({ lines: [], next_page_token: token });
  });

  it.each(["level=loud", "follow=yes", "page_token=x", "since=1"])("refuses %s for a log", async (query) => {
    const { api, id } = await withLines(1);
    expect((await api.get(`/v1/runs/${id}/logs?${query}`)).statusCode).toBe(400);
  });

  it("answers 404 to the log of an unknown run", async () => {
    const { api } = await withLines(0);
    const none = formatId("run", "0190aaaa-0000-7000-8000-00000000ffff");
    expect(refusalOf(await api.get(`/v1/runs/${none}/logs`))).toMatchObject({ status: 404, code: "not_found" });
  });
});
