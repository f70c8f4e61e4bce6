import { requireCalendars } from "@carillon/core";
import { expect, it } from "vitest";

it("names every calendar of a schedule that the namespace lacks, with a similar one", () => {
  const known = ["de-holidays", "weekend"];
  expect(() => requireCalendars({ exclude: known }, known)).not.toThrow();
  const items = [
    {
      pointer: "/schedule/calendars/exclude/1",
      detail: 'Calendar "de-holydays" does not exist; did you mean de-holidays?',
    },
    {
      pointer: "/schedule/calendars/only/0",
      detail: 'Calendar "zz" does not exist; the namespace has de-holidays, weekend.',
    },
  ].map((item) => ({ ...item, code: "calendar_unknown" }));
  expect(() => requireCalendars({ exclude: ["weekend", "de-holydays"], only: ["zz"] }, known)).toThrow(
    expect.objectContaining({ code: "calendar_unknown", items }),
  );
});
