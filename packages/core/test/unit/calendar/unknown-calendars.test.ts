import { requireCalendars } from "@carillon/core";
import { expect, it } from "vitest";

it("names every calendar that a schedule has and the namespace does not, with what was meant", () => {
  const known = ["de-holidays", "weekend"];
  expect(() => requireCalendars({ exclude: known }, known)).not.toThrow();
  const items = [
    {
      pointer: "/schedule/calendars/exclude/1",
      detail: 'there is no calendar "de-holydays"; did you mean de-holidays?',
    },
    { pointer: "/schedule/calendars/only/0", detail: 'there is no calendar "zz"; there are de-holidays, weekend' },
  ].map((item) => ({ ...item, code: "calendar_unknown" }));
  expect(() => requireCalendars({ exclude: ["weekend", "de-holydays"], only: ["zz"] }, known)).toThrow(
    expect.objectContaining({ code: "calendar_unknown", items }),
  );
});
