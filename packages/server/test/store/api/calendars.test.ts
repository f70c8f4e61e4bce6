import type { Calendar, Job, JobExplanation, JobPreview, Upcoming, Window } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
let names = 0;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const newYear = { cron: "0 9 1 1 *" };
const nextYear = () => new Date(api.database.clock.now()).getUTCFullYear() + 1;

async function calendar(rules: unknown[] = [{ dates: ["01-01"] }]): Promise<string> {
  const name = `calendar-${++names}`;
  expect((await api.send("PUT", `/v1/calendars/${name}`, { rules })).statusCode).toBe(201);
  return name;
}

describe("calendars over HTTP", () => {
  it("a calendar keeps its rules and versions, and storing the same rules creates no version", async () => {
    const rules = [{ weekdays: ["SAT", "SUN"] }, { dates: ["2026-05-01", "12-24/12-26"] }];
    const url = `/v1/calendars/${await calendar(rules)}`;
    expect((await api.get(url)).json<Calendar>()).toMatchObject({ version: 1, rules });
    expect((await api.send("PUT", url, { rules })).json<Calendar>().version).toBe(1);
    const changed = await api.send("PUT", url, { rules: rules.slice(1) }, { "if-match": '"v1"' });
    expect([changed.statusCode, changed.json<Calendar>()]).toMatchObject([200, { version: 2, rules: rules.slice(1) }]);
    const before = await api.state();
    expect(refusalOf(await api.send("PUT", url, { rules }, { "if-match": '"v1"' })).code).toBe("precondition_failed");
    expect(refusalOf(await api.send("PUT", url, { rules: [{ weekdays: ["NODAY"] }] })).code).toBe("calendar_invalid");
    expect(await api.state()).toEqual(before);
  });

  it("a calendar moves the next run of its jobs, also when its rules change later", async () => {
    const name = await calendar();
    const body = { task: "echo", schedule: { ...newYear, calendars: { exclude: [name], roll: "next" } } };
    const { id } = (await api.post("/v1/jobs", body)).json<Job>();
    const url = `/v1/jobs/${id}`;
    expect((await api.get(url)).json<Job>().next_run_at).toBe(`${nextYear()}-01-02T09:00:00.000Z`);
    await api.send("PUT", `/v1/calendars/${name}`, { rules: [{ dates: ["01-01/01-03"] }] });
    expect((await api.get(url)).json<Job>()).toMatchObject({
      version: 2,
      next_run_at: `${nextYear()}-01-04T09:00:00.000Z`,
    });
    const { fires } = (await api.get(`${url}/upcoming?count=1`)).json<Upcoming>();
    expect(fires.at(-1)).toMatchObject({ outcome: "fires", notes: [{ kind: "rolled" }] });
  });

  it("a calendar that a job uses cannot be deleted until the job is cancelled", async () => {
    const name = await calendar();
    const body = { task: "echo", schedule: { ...newYear, calendars: { exclude: [name] } } };
    const { id } = (await api.post("/v1/jobs", body)).json<Job>();
    const refused = await api.send("DELETE", `/v1/calendars/${name}`);
    expect(refusalOf(refused)).toMatchObject({ status: 409, code: "calendar_in_use" });
    expect(refused.body).toContain(id);
    await api.send("DELETE", `/v1/jobs/${id}`);
    expect((await api.send("DELETE", `/v1/calendars/${name}`)).statusCode).toBe(204);
    expect(refusalOf(await api.get(`/v1/calendars/${name}`)).status).toBe(404);
  });

  it("a job with an unknown calendar is refused with the most similar name, and changes no row", async () => {
    const name = await calendar();
    const { id } = (await api.post("/v1/jobs", { task: "echo", schedule: newYear })).json<Job>();
    const before = await api.state();
    const schedule = { ...newYear, calendars: { only: [`${name}x`] } };
    for (const response of [
      await api.post("/v1/jobs", { task: "echo", schedule }),
      await api.send("PATCH", `/v1/jobs/${id}`, { schedule }),
      await api.send("PUT", "/v1/jobs/@new", { task: "echo", schedule }),
      await api.post("/v1/jobs:preview", { schedule }),
    ]) {
      const faults = ["/schedule/calendars/only/0 calendar_unknown"];
      expect(refusalOf(response)).toEqual({ status: 422, code: "calendar_unknown", faults });
      expect(response.body).toContain(`did you mean ${name}?`);
    }
    expect(await api.state()).toEqual(before);
  });

  it("public holidays are known without a package, and an unknown country is refused with the list of known ones", async () => {
    const name = await calendar([{ holidays: { country: "DE", region: "BY" } }]);
    const schedule = { cron: "0 9 6 1 *", calendars: { exclude: [name], roll: "next" } };
    const { fires, warnings } = (await api.post("/v1/jobs:preview?count=1", { schedule })).json<JobPreview>();
    expect(fires.at(-1)).toMatchObject({ outcome: "fires", scheduled_for: `${nextYear()}-01-07T09:00:00.000Z` });
    expect(warnings.map(({ code }) => code)).not.toContain("holidays_unknown");

    const put = (holidays: object) => api.send("PUT", "/v1/calendars/refused", { rules: [{ holidays }] });
    const before = await api.state();
    const unknown = await put({ country: "XX" });
    expect(refusalOf(unknown)).toMatchObject({ status: 422, code: "calendar_invalid" });
    expect(unknown.body).toMatch(/country \\"XX\\": use one of AD, AE, .*, ZW/);
    const banks = await put({ country: "DE", types: ["bank"] });
    expect(refusalOf(banks)).toMatchObject({ status: 422, code: "calendar_holidays_unavailable" });
    expect(banks.body).toContain("npm install date-holidays");
    expect(await api.state()).toEqual(before);
  });

  it("years without known holidays are reported by preview, job and explanation, and refused for a backfill", async () => {
    const name = await calendar([{ weekdays: ["SUN"] }, { holidays: { country: "DE" } }]);
    const schedule = { cron: "0 9 1 5 *", starts_at: "2060-01-01T00:00:00Z", calendars: { exclude: [name] } };
    const unknown = {
      code: "holidays_unknown",
      detail: expect.stringMatching(
        /^Calendar "calendar-\d+" has public holidays from \d{4} to \d{4} only.*npm install date-holidays$/,
      ),
    };
    const preview = (await api.post("/v1/jobs:preview", { schedule })).json<JobPreview>();
    expect(preview.warnings).toContainEqual(expect.objectContaining(unknown));
    const { id, warnings } = (await api.post("/v1/jobs", { task: "echo", schedule })).json<Job>();
    expect(warnings).toContainEqual(expect.objectContaining(unknown));
    expect((await api.get(`/v1/jobs/${id}`)).json<Job>().warnings).toContainEqual(expect.objectContaining(unknown));
    const explained = (await api.get(`/v1/jobs/${id}/explain`)).json<JobExplanation>();
    expect(explained.warnings).toContainEqual(expect.objectContaining(unknown));

    const soon = { task: "echo", schedule: { cron: "0 9 1 5 *", calendars: { exclude: [name] } } };
    const job = (await api.post("/v1/jobs", soon)).json<Job>();
    const range = { from: "2020-01-01T00:00:00Z", to: "2020-12-31T00:00:00Z" };
    const refused = await api.post(`/v1/jobs/${job.id}:backfill`, range);
    expect(refusalOf(refused).code).toBe("backfill_invalid");
    expect(refused.body).toContain("npm install date-holidays");
  });

  it("a calendar is visible in its own namespace only", async () => {
    const name = await calendar();
    expect(refusalOf(await api.other.get(`/v1/calendars/${name}`)).status).toBe(404);
    expect(refusalOf(await api.other.send("DELETE", `/v1/calendars/${name}`)).status).toBe(404);
    expect((await api.other.get("/v1/calendars")).json()).toEqual({ calendars: [], next_page_token: null });
    const schedule = { ...newYear, calendars: { only: [name] } };
    expect(refusalOf(await api.other.post("/v1/jobs", { task: "echo", schedule })).code).toBe("calendar_unknown");
  });
});

describe("maintenance windows over HTTP", () => {
  const open = { mode: "skip", cron: "0 0 1 1 *", duration: "1d" };

  it("stores a maintenance window by its name, in its namespace", async () => {
    const url = `/v1/maintenance-windows/window-${++names}`;
    const body = { ...open, queue: "mail", labels: { team: "a" }, time_zone: "Asia/Tokyo" };
    const created = await api.send("PUT", url, body);
    expect([created.statusCode, created.json<Window>()]).toMatchObject([201, body]);
    expect((await api.send("PUT", url, { ...body, mode: "hold" })).statusCode).toBe(200);
    expect((await api.get(url)).json<Window>().mode).toBe("hold");
    expect(refusalOf(await api.other.get(url)).status).toBe(404);
    expect(refusalOf(await api.other.send("DELETE", url)).status).toBe(404);
    expect((await api.send("DELETE", url)).statusCode).toBe(204);
    expect(refusalOf(await api.send("DELETE", url)).status).toBe(404);
  });

  it("refuses an invalid maintenance window and changes no row", async () => {
    const before = await api.state();
    for (const body of [{}, { ...open, duration: "366d" }, { ...open, cron: "x" }, { ...open, mode: "stop" }]) {
      expect(refusalOf(await api.send("PUT", "/v1/maintenance-windows/w", body)).status).toBeGreaterThanOrEqual(400);
    }
    expect(await api.state()).toEqual(before);
  });
});
