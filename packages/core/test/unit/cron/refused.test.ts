import { describe, expect, it } from "vitest";
import { CarillonError, parseCron } from "../../../src/index.js";

function refusalOf(expression: string, dayMatch?: "or" | "and"): { code: string; message: string } {
  try {
    parseCron(expression, dayMatch);
  } catch (error) {
    if (error instanceof CarillonError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: "accepted", message: expression };
}

const FIVE_OR_SIX = "write five fields (minute hour day-of-month month day-of-week) or six with seconds first";
const ASCII_ONLY = "use the digits 0-9, ASCII letters and * ? , - / # only";
const MONTH_DAY_FORMS = "write L, L-n, LW, L-nW or nW";
const WEEKDAY_FORMS = "write d#n for the nth or dL for the last weekday d of the month, such as MON#1 or FRIL";
const MACROS = "use one of @yearly @annually @monthly @weekly @daily @midnight @hourly alone";

describe("a refusal names the field, the part, the problem and the remedy", () => {
  it.each([
    ["", `Expression "": is empty; ${FIVE_OR_SIX}.`],
    [" \t ", `Expression " \\t ": is empty; ${FIVE_OR_SIX}.`],
    ["* * * *", `Expression "* * * *": has 4 fields; ${FIVE_OR_SIX}.`],
    ["0 0 1 1 * 2026 *", `Expression "0 0 1 1 * 2026 *": has 7 fields (there is no field for years); ${FIVE_OR_SIX}.`],
    ["hello", `Expression "hello": has 1 field; ${FIVE_OR_SIX}.`],
    ["@reboot", `Expression "@reboot": is not a macro; ${MACROS}.`],
    ["@daily 5", `Expression "@daily 5": is not a macro; ${MACROS}.`],
    ["@every 5m", `Expression "@every 5m": is not a macro; ${MACROS}.`],
    ["60 * * * *", 'Minute "60": 60 is out of range; use 0-59.'],
    ["60 * * * * *", 'Second "60": 60 is out of range; use 0-59.'],
    ["0 24 * * *", 'Hour "24": 24 is out of range; use 0-23.'],
    ["0 0 0 * *", 'Day-of-month "0": 0 is out of range; use 1-31.'],
    ["0 0 32 * *", 'Day-of-month "32": 32 is out of range; use 1-31.'],
    ["0 0 1 13 *", 'Month "13": 13 is out of range; use 1-12 or JAN-DEC.'],
    ["0 0 1 0 *", 'Month "0": 0 is out of range; use 1-12 or JAN-DEC.'],
    ["0 0 * * 8", 'Day-of-week "8": 8 is out of range; use 0-7 (0 and 7 are Sunday) or SUN-SAT.'],
    [
      "5,99999999999999999999999 * * * *",
      'Minute "99999999999999999999999": 99999999999999999999 is out of range; use 0-59.',
    ],
    ["*/0 * * * *", 'Minute "*/0": a step of 0 never moves; write a whole number from 1 to 60 after the slash.'],
    [
      "*/61 * * * *",
      'Minute "*/61": the step is longer than the field; write a whole number from 1 to 60 after the slash.',
    ],
    [
      "0 0 * * */8",
      'Day-of-week "*/8": the step is longer than the field; write a whole number from 1 to 7 after the slash.',
    ],
    ["*/ * * * *", 'Minute "*/": the step is not a number; write a whole number from 1 to 60 after the slash.'],
    ["*/x * * * *", 'Minute "*/x": the step is not a number; write a whole number from 1 to 60 after the slash.'],
    ["*/-5 * * * *", 'Minute "*/-5": the step is not a number; write a whole number from 1 to 60 after the slash.'],
    ["1/2/3 * * * *", 'Minute "1/2/3": a part has at most one step; write a-b/n.'],
    ["/5 * * * *", 'Minute "/5": a value is missing; use 0-59.'],
    ["1-2-3 * * * *", 'Minute "1-2-3": a range has two ends; write a-b, or a list of ranges.'],
    ["5- * * * *", 'Minute "5-": the range has an open end; write a-b.'],
    ["- * * * *", 'Minute "-": the range has an open end; write a-b.'],
    ["-5 * * * *", 'Minute "-5": a number has no sign; write 5.'],
    ["+5 * * * *", 'Minute "+5": a number has no sign; write 5.'],
    ["1,,2 * * * *", 'Minute "1,,2": the list has an empty element; write 1,2.'],
    [", * * * *", 'Minute ",": the list has an empty element; write *.'],
    ["0 22-2 * * *", 'Hour "22-2": the range runs backwards; write 22-23,0-2.'],
    ["0 23-0 * * *", 'Hour "23-0": the range runs backwards; write 23,0.'],
    ["0 20-6/5 * * *", 'Hour "20-6/5": the range runs backwards; write 20,1-6/5.'],
    ["0 0 * * FRI-MON", 'Day-of-week "FRI-MON": the range runs backwards; write FRI-SAT,SUN-MON.'],
    ["0 0 * * 5-0", 'Day-of-week "5-0": the range runs backwards; write 5-7.'],
    ["0 0 1 NOV-FEB *", 'Month "NOV-FEB": the range runs backwards; write NOV-DEC,JAN-FEB.'],
    ["1e1 * * * *", 'Minute "1e1": is not a whole number; use 0-59.'],
    ["0x1F * * * *", 'Minute "0x1F": is not a whole number; use 0-59.'],
    ["1.5 * * * *", `Minute "1.5": the character U+002E has no meaning here; ${ASCII_ONLY}.`],
    ["５ * * * *", `Minute "５": the character U+FF15 has no meaning here; ${ASCII_ONLY}.`],
    ["0 0 1\u00A0 * *", `Day-of-month "1\u00A0": the character U+00A0 has no meaning here; ${ASCII_ONLY}.`],
    ["0 0\u0000 * * *", `Hour "0\\u0000": the character U+0000 has no meaning here; ${ASCII_ONLY}.`],
    ["0 0 * * *\n", `Day-of-week "*\\n": the character U+000A has no meaning here; ${ASCII_ONLY}.`],
    ["0 0 * * MONDAY", 'Day-of-week "MONDAY": names have three letters; write MON.'],
    ["0 0 1 JUNE *", 'Month "JUNE": names have three letters; write JUN.'],
    ["0 0 * * MO", 'Day-of-week "MO": is neither a whole number nor a name; use 0-7 (0 and 7 are Sunday) or SUN-SAT.'],
    ["0 0 MON * *", 'Day-of-month "MON": is not a whole number; use 1-31.'],
    ["H * * * *", 'Minute "H": is not a whole number; use 0-59.'],
    ["? * * * *", 'Minute "?": ? is for the two day fields; write *.'],
    ["*5 * * * *", 'Minute "*5": a wildcard stands alone or before a step; write * or */n.'],
    ["0 0 *-5 * *", 'Day-of-month "*-5": a wildcard stands alone or before a step; write * or */n.'],
    ["L * * * *", 'Minute "L": L and W are for the day fields; use numbers here.'],
    ["0 15W * * *", 'Hour "15W": L and W are for the day fields; use numbers here.'],
    ["0 0 1 5#2 *", `Month "5#2": # is for day-of-week; ${WEEKDAY_FORMS}.`],
    ["0 0 5#2 * *", `Day-of-month "5#2": # is for day-of-week; ${WEEKDAY_FORMS}.`],
    ["0 0 5L * *", `Day-of-month "5L": L and W do not combine like this; ${MONTH_DAY_FORMS}.`],
    ["0 0 L/2 * *", `Day-of-month "L/2": L and W do not combine like this; ${MONTH_DAY_FORMS}.`],
    ["0 0 W * *", `Day-of-month "W": L and W do not combine like this; ${MONTH_DAY_FORMS}.`],
    ["0 0 1-5W * *", `Day-of-month "1-5W": L and W do not combine like this; ${MONTH_DAY_FORMS}.`],
    ["0 0 32W * *", 'Day-of-month "32W": 32 is out of range; use 1-31.'],
    ["0 0 L-31 * *", 'Day-of-month "L-31": no month has that many days before its last; use L-0 to L-30.'],
    ["0 0 * * L", 'Day-of-week "L": L needs its weekday; write 6L or SATL for the last Saturday.'],
    ["0 0 * * 15W", `Day-of-week "15W": is a form of day-of-month; ${WEEKDAY_FORMS}.`],
    ["0 0 * * L-3W", `Day-of-week "L-3W": is a form of day-of-month; ${WEEKDAY_FORMS}.`],
    ["0 0 L-31W * *", 'Day-of-month "L-31W": no month has that many days before its last; use L-0W to L-30W.'],
    ["0 0 L-W * *", `Day-of-month "L-W": L and W do not combine like this; ${MONTH_DAY_FORMS}.`],
    ["0 0 L-1-3W * *", `Day-of-month "L-1-3W": L and W do not combine like this; ${MONTH_DAY_FORMS}.`],
    ["0 L-3W * * *", 'Hour "L-3W": L and W are for the day fields; use numbers here.'],
    ["0 0 * * 1-5/2L", `Day-of-week "1-5/2L": L takes no step; ${WEEKDAY_FORMS}.`],
    ["0 0 * * 5L/2", `Day-of-week "5L/2": L takes no step; ${WEEKDAY_FORMS}.`],
    ["0 0 * * 1-5/2#1", 'Day-of-week "1-5/2#1": # takes no step; write a list, such as MON#1,WED#3.'],
    ["0 0 * * FRI#1-5/2", 'Day-of-week "FRI#1-5/2": # takes no step; write a list, such as MON#1,WED#3.'],
    ["0 0 * * FRI#3-1", 'Day-of-week "FRI#3-1": the range runs backwards; write FRI#1-3.'],
    ["0 0 * * FRI-MON#1", 'Day-of-week "FRI-MON#1": the range runs backwards; write FRI-SAT#1,SUN-MON#1.'],
    ["0 0 * * 5-1L", 'Day-of-week "5-1L": the range runs backwards; write 5-6L,0-1L.'],
    ["0 0 * * SAT-SUN-L", 'Day-of-week "SAT-SUN-L": a range has two ends; write a-b, or a list of ranges.'],
    ["0 0 * * MON-#1", 'Day-of-week "MON-#1": the range has an open end; write a-b#1.'],
    ["0 0 * * FRI#2-L", 'Day-of-week "FRI#2-L": L after # stands alone; write d#L for the last weekday d.'],
    ["0 0 * * FRI#L-1", 'Day-of-week "FRI#L-1": L after # stands alone; write d#L for the last weekday d.'],
    [
      "0 0 * * *#1",
      'Day-of-week "*#1": is neither a whole number nor a name; use 0-7 (0 and 7 are Sunday) or SUN-SAT.',
    ],
    [
      "0 0 * * MON#3-6",
      'Day-of-week "MON#3-6": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last.',
    ],
    ["0 0 * * 8L", 'Day-of-week "8L": 8 is out of range; use 0-7 (0 and 7 are Sunday) or SUN-SAT.'],
    [
      "0 0 * * MON#6",
      'Day-of-week "MON#6": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last.',
    ],
    [
      "0 0 * * MON#0",
      'Day-of-week "MON#0": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last.',
    ],
    [
      "0 0 * * MON#1#2",
      'Day-of-week "MON#1#2": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last.',
    ],
    ["0 0 * * #2", 'Day-of-week "#2": a value is missing; use 0-7 (0 and 7 are Sunday) or SUN-SAT.'],
  ])("refuses %j with a remedy", (expression, message) => {
    expect(refusalOf(expression)).toEqual({ code: "cron_invalid", message });
  });

  it("refuses an expression of 257 characters and quotes only its beginning", () => {
    const expression = "0 0 * * *".padEnd(257, " ");
    const quoted = `${expression.slice(0, 40)}…`;
    expect(refusalOf(expression)).toEqual({
      code: "cron_invalid",
      message: `Expression "${quoted}": is 257 characters long; the maximum is 256.`,
    });
  });
});

describe("an expression that can never fire is refused by name", () => {
  it.each([
    ["0 0 30 2 *", 'Day-of-month "30" with month "2"'],
    ["0 0 31 2,4,6,9,11 *", 'Day-of-month "31" with month "2,4,6,9,11"'],
    ["0 0 31W APR *", 'Day-of-month "31W" with month "APR"'],
    ["0 0 L-29 2 *", 'Day-of-month "L-29" with month "2"'],
    ["0 0 L-29W 2 *", 'Day-of-month "L-29W" with month "2"'],
    ["0 0 L-30 FEB,JUN ?", 'Day-of-month "L-30" with month "FEB,JUN"'],
    ["* * * 30,31 2 *", 'Day-of-month "30,31" with month "2"'],
  ])("refuses %j, which never fires", (expression, which) => {
    const message = `${which}: there is no such day in any year; choose days that one of the months has, such as L for its last day.`;
    expect(refusalOf(expression)).toEqual({ code: "cron_never_fires", message });
  });

  it.each([
    ["0 0 8-31 * MON#1", 'Day-of-month "8-31" with day-of-week "MON#1"'],
    ["0 0 LW * SAT", 'Day-of-month "LW" with day-of-week "SAT"'],
    ["0 0 1-21 * FRIL", 'Day-of-month "1-21" with day-of-week "FRIL"'],
    ["0 0 28 2 SAT#5", 'Day-of-month "28" with day-of-week "SAT#5" with month "2"'],
  ])("refuses %j under day_match and: it never fires", (expression, which) => {
    const message = `${which}: no day in any year matches both day fields; choose days that meet, or day_match "or".`;
    expect(refusalOf(expression, "and")).toEqual({ code: "cron_never_fires", message });
    expect(refusalOf(expression, "or").code).toBe("accepted");
  });

  it.each(["0 0 29 2 *", "0 0 * 2 FRI#5", "0 0 30 2 MON", "0 0 L-28 2 *", "0 0 29W 2 *", "0 0 31 1-12 *"])(
    "accepts %j, which fires rarely",
    (expression) => {
      expect(refusalOf(expression).code).toBe("accepted");
    },
  );
});
