import type { Job, OccurrenceList } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const hour = 3_600_000;
const noon = Date.UTC(2026, 0, 1, 12);
const reasons = [
  "missed",
  "overlap",
  "window",
  "calendar",
  "merged",
  "paused",
  "superseded",
  "already_ran",
  "duplicate",
  "condition",
];

/** A job with a ledger entry for each reason, an hour apart. */
async function noted(): Promise<string> {
  const { id } = (await api.post("/v1/jobs", { task: "echo", schedule: { cron: "0 0 1 1 *" } })).json<Job>();
  await api.database.query(
    {
      text: `insert into carillon.occurrence (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
             select d.job_id, d.namespace_id, n, reason, $1::timestamptz + (n - 1) * interval '1 hour',
                    $1::timestamptz + (n - 1) * interval '1 hour 10 minutes', n, case reason when 'window' then 'freeze' end, now()
             from (select * from carillon.job_due order by job_id desc limit 1) d,
                  unnest($2::text[]) with ordinality as r (reason, n)`,
    },
    [new Date(noon).toISOString(), reasons],
  );
  return `/v1/jobs/${id}`;
}

const at = (ms: number): string => new Date(ms).toISOString();
const listed = async (url: string): Promise<OccurrenceList> => (await api.get(url)).json<OccurrenceList>();

describe("occurrences without a scheduled run over HTTP", () => {
  it("lists occurrences as ranges with reason, count, version and detail, newest first", async () => {
    const url = await noted();
    const { occurrences, next_page_token } = await listed(`${url}/occurrences`);
    expect(next_page_token).toBeNull();
    expect(occurrences.map((row) => row.reason)).toEqual(reasons.toReversed());
    expect(occurrences.at(-3)).toEqual({
      reason: "window",
      from: at(noon + 2 * hour),
      to: at(noon + (2 * hour * 7) / 6),
      count: 3,
      version: 3,
      detail: "freeze",
    });
  });

  it("pages of occurrences contain each one once", async () => {
    const url = await noted();
    const seen: string[] = [];
    let token: string | null = null;
    do {
      const from: string = token === null ? "" : `&page_token=${token}`;
      const page: OccurrenceList = await listed(`${url}/occurrences?page_size=4${from}`);
      expect(page.occurrences.length).toBeLessThanOrEqual(4);
      seen.push(...page.occurrences.map((row) => row.reason));
      token = page.next_page_token;
    } while (token !== null);
    expect(seen).toEqual(reasons.toReversed());
  });

  it("refuses the page token of another job or another list of occurrences", async () => {
    const [one, other] = [await noted(), await noted()];
    const { next_page_token: token } = await listed(`${one}/occurrences?page_size=1`);
    for (const url of [`${other}/occurrences`, `${one}/versions`]) {
      const refused = refusalOf(await api.get(`${url}?page_token=${token}`));
      expect(refused).toMatchObject({ status: 400, code: "page_token_invalid" });
    }
  });

  it("the occurrences of a job that was cancelled while paused include the fires skipped by the pause", async () => {
    const { id } = (await api.post("/v1/jobs", { task: "echo", schedule: { every: "1s" } })).json<Job>();
    const url = `/v1/jobs/${id}`;
    await api.post(`${url}:pause`, {});
    // Occurrences pass by themselves; polling until one has passed is waiting for an event.
    while ((await api.post(`${url}:resume`, { dry_run: true })).json<{ missed: number }>().missed < 1);
    await api.post(`${url}:cancel`, {});
    const { occurrences } = await listed(`${url}/occurrences`);
    const paused = occurrences.filter((row) => row.reason === "paused");
    expect(paused).toHaveLength(1);
    expect(paused[0]?.count).toBeGreaterThanOrEqual(1);
  });
});
