import { CarillonError, requireCalendars } from "@carillon/core";
import { expect, it } from "vitest";

it("names every calendar that a schedule has and the namespace does not, with what was meant", () => {
  const known = ["de-holidays", "weekend"];
  expect(() => requireCalendars({ exclude: known }, known)).not.toThrow();
  try {
    requireCalendars({ exclude: ["weekend", "de-holydays"], only: ["zz"] }, known);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(CarillonError);
    expect(error).toMatchObject({
      code: "calendar_unknown",
      items: [
        {
          pointer: "/schedule/calendars/exclude/1",
          detail: 'there is no calendar "de-holydays"; did you mean de-holidays?',
        },
        { pointer: "/schedule/calendars/only/0", detail: 'there is no calendar "zz"; there are de-holidays, weekend' },
      ],
    });
  }
});
