import type { CalendarList, WindowList } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

describe("calendars", () => {
  const url = "/v1/calendars/office";
  const rules = [{ weekdays: ["SAT", "SUN"] }, { dates: ["2026-05-01", "12-24/12-26"] }];

  it("creates, reads, replaces and deletes a calendar by its name", async () => {
    const api = apiUnderTest();
    const created = await api.send("PUT", url, { rules });
    expect([created.statusCode, created.headers["location"], created.headers["etag"]]).toEqual([201, url, '"v1"']);
    expect((await api.get(url)).json()).toEqual(created.json());
    expect(created.json()).toMatchObject({ name: "office", version: 1, rules });
    const replaced = await api.send(
      "PUT",
      url,
      { name: "office", rules: [{ dates: ["01-01"] }] },
      { "if-match": '"v1"' },
    );
    expect([replaced.statusCode, replaced.headers["etag"]]).toEqual([200, '"v2"']);
    expect(refusalOf(await api.send("PUT", url, { rules }, { "if-match": '"v1"' })).status).toBe(412);
    expect((await api.send("DELETE", url)).statusCode).toBe(204);
    expect(refusalOf(await api.get(url)).status).toBe(404);
    expect(refusalOf(await api.send("DELETE", url)).status).toBe(404);
  });

  it("lists calendars by name, in pages", async () => {
    const api = apiUnderTest();
    for (const name of ["c", "a", "b"]) await api.send("PUT", `/v1/calendars/${name}`, { rules });
    const first = (await api.get("/v1/calendars?page_size=2")).json<CalendarList>();
    const second = (
      await api.get(`/v1/calendars?page_size=2&page_token=${first.next_page_token}`)
    ).json<CalendarList>();
    expect([...first.calendars, ...second.calendars].map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(second.next_page_token).toBe(null);
  });

  it.each([
    [{}, 422, ["/rules calendar_invalid"]],
    [{ rules: [{ weekdays: ["SATURDAY"] }] }, 422, ["/rules/0/weekdays/0 calendar_invalid"]],
    [
      { rules: [{ dates: ["2026-02-30"] }], colour: 1 },
      422,
      ["/colour calendar_invalid", "/rules/0/dates/0 calendar_invalid"],
    ],
    [{ rules, name: "other" }, 400, ["/name field_invalid"]],
    [[], 400, [" field_invalid"]],
  ])("refuses the calendar %j", async (body, status, faults) => {
    const api = apiUnderTest();
    expect(refusalOf(await api.send("PUT", url, body))).toMatchObject({ status, faults });
    expect(api.engine.calendars.stored.size).toBe(0);
  });

  it.each(["a%20b", "%00", "-a", "x".repeat(101)])("refuses %s as the name of a calendar", async (name) => {
    const api = apiUnderTest();
    expect(refusalOf(await api.send("PUT", `/v1/calendars/${name}`, { rules }))).toMatchObject({
      status: 422,
      faults: ["/name calendar_invalid"],
    });
    expect(refusalOf(await api.get(`/v1/calendars/${name}`)).status).toBe(404);
  });

  it("refuses to delete a calendar that jobs use", async () => {
    const api = apiUnderTest();
    await api.send("PUT", url, { rules });
    api.engine.failNextCall(new CarillonError("calendar_in_use", "the calendar is used by job_1"));
    expect(refusalOf(await api.send("DELETE", url))).toMatchObject({ status: 409, code: "calendar_in_use" });
  });
});

describe("maintenance windows", () => {
  const url = "/v1/maintenance-windows/night";
  const nightly = { mode: "hold", queue: "mail", cron: "0 2 * * *", time_zone: "Europe/Paris", duration: "2h" };

  it("creates, reads, replaces and deletes a maintenance window by its name", async () => {
    const api = apiUnderTest();
    const created = await api.send("PUT", url, nightly);
    expect([created.statusCode, created.json()]).toMatchObject([201, { name: "night", ...nightly }]);
    expect(api.engine.windows.stored.get("night")?.window.scope).toEqual({ namespace: "default", queue: "mail" });
    const once = {
      mode: "skip",
      labels: { team: "a" },
      from: "2026-12-24T00:00:00.000Z",
      to: "2026-12-27T00:00:00.000Z",
    };
    expect((await api.send("PUT", url, once)).json()).toMatchObject(once);
    expect((await api.get("/v1/maintenance-windows")).json<WindowList>().maintenance_windows.length).toBe(1);
    expect((await api.get(url)).json()).toMatchObject(once);
    expect((await api.send("DELETE", url)).statusCode).toBe(204);
    expect(refusalOf(await api.send("DELETE", url)).status).toBe(404);
  });

  it.each([
    [{ cron: "0 2 * * *", duration: "1h" }, "/mode field_missing"],
    [{ mode: "wait", cron: "0 2 * * *", duration: "1h" }, "/mode field_invalid"],
    [{ mode: "hold" }, "/cron field_missing"],
    [{ mode: "hold", cron: "0 2 * * *" }, "/duration field_missing"],
    [{ mode: "hold", cron: "0 2 * *", duration: "1h" }, "/cron cron_invalid"],
    [{ mode: "hold", cron: "0 2 * * *", duration: "25h" }, "/duration maintenance_window_invalid"],
    [{ mode: "hold", cron: "0 2 * * *", duration: "1h", time_zone: "Mars/X" }, "/time_zone time_zone_unknown"],
    [{ mode: "hold", from: "2026-12-24T00:00:00Z" }, "/to field_missing"],
    [{ mode: "hold", from: "2026-12-24T00:00:00Z", to: "2026-12-23T00:00:00Z" }, "/to maintenance_window_invalid"],
    [{ mode: "hold", from: "noon", to: "2026-12-23T00:00:00Z" }, "/from instant_invalid"],
    [
      { mode: "hold", from: "2026-12-24T00:00:00Z", to: "2026-12-25T00:00:00Z", cron: "@daily" },
      "/cron maintenance_window_invalid",
    ],
    [{ ...nightly, labels: { a: 1 } }, "/labels/a field_invalid"],
    [{ ...nightly, name: "other" }, "/name field_invalid"],
  ])("refuses the maintenance window %j", async (body, fault) => {
    const api = apiUnderTest();
    expect(refusalOf(await api.send("PUT", url, body)).faults).toContain(fault);
    expect(api.engine.windows.stored.size).toBe(0);
  });

  it("refuses an invalid name of a maintenance window", async () => {
    expect(refusalOf(await apiUnderTest().send("PUT", "/v1/maintenance-windows/a%20b", nightly))).toMatchObject({
      status: 422,
      faults: ["/name maintenance_window_invalid"],
    });
  });
});
