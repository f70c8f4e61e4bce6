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

describe("a refusal names the field, the part, what is wrong and what would be right", () => {
  it.each([
    ["", `expression "": is empty; ${FIVE_OR_SIX}`],
    [" \t ", `expression " \\t ": is empty; ${FIVE_OR_SIX}`],
    ["* * * *", `expression "* * * *": has 4 fields; ${FIVE_OR_SIX}`],
    ["0 0 1 1 * 2026 *", `expression "0 0 1 1 * 2026 *": has 7 fields (there is no field for years); ${FIVE_OR_SIX}`],
    ["hello", `expression "hello": has 1 field; ${FIVE_OR_SIX}`],
    ["@reboot", `expression "@reboot": is not a macro; ${MACROS}`],
    ["@daily 5", `expression "@daily 5": is not a macro; ${MACROS}`],
    ["@every 5m", `expression "@every 5m": is not a macro; ${MACROS}`],
    ["60 * * * *", 'minute "60": 60 is out of range; use 0-59'],
    ["60 * * * * *", 'second "60": 60 is out of range; use 0-59'],
    ["0 24 * * *", 'hour "24": 24 is out of range; use 0-23'],
    ["0 0 0 * *", 'day-of-month "0": 0 is out of range; use 1-31'],
    ["0 0 32 * *", 'day-of-month "32": 32 is out of range; use 1-31'],
    ["0 0 1 13 *", 'month "13": 13 is out of range; use 1-12 or JAN-DEC'],
    ["0 0 1 0 *", 'month "0": 0 is out of range; use 1-12 or JAN-DEC'],
    ["0 0 * * 8", 'day-of-week "8": 8 is out of range; use 0-7 (0 and 7 are Sunday) or SUN-SAT'],
    [
      "5,99999999999999999999999 * * * *",
      'minute "99999999999999999999999": 99999999999999999999 is out of range; use 0-59',
    ],
    ["*/0 * * * *", 'minute "*/0": a step of 0 never moves; write a whole number from 1 to 60 after the slash'],
    [
      "*/61 * * * *",
      'minute "*/61": the step is longer than the field; write a whole number from 1 to 60 after the slash',
    ],
    [
      "0 0 * * */8",
      'day-of-week "*/8": the step is longer than the field; write a whole number from 1 to 7 after the slash',
    ],
    ["*/ * * * *", 'minute "*/": the step is not a number; write a whole number from 1 to 60 after the slash'],
    ["*/x * * * *", 'minute "*/x": the step is not a number; write a whole number from 1 to 60 after the slash'],
    ["*/-5 * * * *", 'minute "*/-5": the step is not a number; write a whole number from 1 to 60 after the slash'],
    ["1/2/3 * * * *", 'minute "1/2/3": a part has at most one step; write a-b/n'],
    ["/5 * * * *", 'minute "/5": a value is missing; use 0-59'],
    ["1-2-3 * * * *", 'minute "1-2-3": a range has two ends; write a-b, or a list of ranges'],
    ["5- * * * *", 'minute "5-": the range has an open end; write a-b'],
    ["- * * * *", 'minute "-": the range has an open end; write a-b'],
    ["-5 * * * *", 'minute "-5": a number has no sign; write 5'],
    ["+5 * * * *", 'minute "+5": a number has no sign; write 5'],
    ["1,,2 * * * *", 'minute "1,,2": the list has an empty element; write 1,2'],
    [", * * * *", 'minute ",": the list has an empty element; write *'],
    ["0 22-2 * * *", 'hour "22-2": the range runs backwards; write 22-23,0-2'],
    ["0 23-0 * * *", 'hour "23-0": the range runs backwards; write 23,0'],
    ["0 20-6/5 * * *", 'hour "20-6/5": the range runs backwards; write 20,1-6/5'],
    ["0 0 * * FRI-MON", 'day-of-week "FRI-MON": the range runs backwards; write FRI-SAT,SUN-MON'],
    ["0 0 * * 5-0", 'day-of-week "5-0": the range runs backwards; write 5-7'],
    ["0 0 1 NOV-FEB *", 'month "NOV-FEB": the range runs backwards; write NOV-DEC,JAN-FEB'],
    ["1e1 * * * *", 'minute "1e1": is not a whole number; use 0-59'],
    ["0x1F * * * *", 'minute "0x1F": is not a whole number; use 0-59'],
    ["1.5 * * * *", `minute "1.5": the character U+002E has no meaning here; ${ASCII_ONLY}`],
    ["５ * * * *", `minute "５": the character U+FF15 has no meaning here; ${ASCII_ONLY}`],
    ["0 0 1\u00A0 * *", `day-of-month "1\u00A0": the character U+00A0 has no meaning here; ${ASCII_ONLY}`],
    ["0 0\u0000 * * *", `hour "0\\u0000": the character U+0000 has no meaning here; ${ASCII_ONLY}`],
    ["0 0 * * *\n", `day-of-week "*\\n": the character U+000A has no meaning here; ${ASCII_ONLY}`],
    ["0 0 * * MONDAY", 'day-of-week "MONDAY": names have three letters; write MON'],
    ["0 0 1 JUNE *", 'month "JUNE": names have three letters; write JUN'],
    ["0 0 * * MO", 'day-of-week "MO": is neither a whole number nor a name; use 0-7 (0 and 7 are Sunday) or SUN-SAT'],
    ["0 0 MON * *", 'day-of-month "MON": is not a whole number; use 1-31'],
    ["H * * * *", 'minute "H": is not a whole number; use 0-59'],
    ["? * * * *", 'minute "?": ? is for the two day fields; write *'],
    ["*5 * * * *", 'minute "*5": a wildcard stands alone or before a step; write * or */n'],
    ["0 0 *-5 * *", 'day-of-month "*-5": a wildcard stands alone or before a step; write * or */n'],
    ["L * * * *", 'minute "L": L and W are for the day fields; use numbers here'],
    ["0 15W * * *", 'hour "15W": L and W are for the day fields; use numbers here'],
    ["0 0 1 5#2 *", `month "5#2": # is for day-of-week; ${WEEKDAY_FORMS}`],
    ["0 0 5#2 * *", `day-of-month "5#2": # is for day-of-week; ${WEEKDAY_FORMS}`],
    ["0 0 5L * *", `day-of-month "5L": L and W do not combine like this; ${MONTH_DAY_FORMS}`],
    ["0 0 L/2 * *", `day-of-month "L/2": L and W do not combine like this; ${MONTH_DAY_FORMS}`],
    ["0 0 W * *", `day-of-month "W": L and W do not combine like this; ${MONTH_DAY_FORMS}`],
    ["0 0 1-5W * *", `day-of-month "1-5W": L and W do not combine like this; ${MONTH_DAY_FORMS}`],
    ["0 0 32W * *", 'day-of-month "32W": 32 is out of range; use 1-31'],
    ["0 0 L-31 * *", 'day-of-month "L-31": no month has that many days before its last; use L-0 to L-30'],
    ["0 0 * * L", 'day-of-week "L": L needs its weekday; write 6L or SATL for the last Saturday'],
    ["0 0 * * 15W", `day-of-week "15W": is a form of day-of-month; ${WEEKDAY_FORMS}`],
    ["0 0 * * L-3W", `day-of-week "L-3W": is a form of day-of-month; ${WEEKDAY_FORMS}`],
    ["0 0 L-31W * *", 'day-of-month "L-31W": no month has that many days before its last; use L-0W to L-30W'],
    ["0 0 L-W * *", `day-of-month "L-W": L and W do not combine like this; ${MONTH_DAY_FORMS}`],
    ["0 0 L-1-3W * *", `day-of-month "L-1-3W": L and W do not combine like this; ${MONTH_DAY_FORMS}`],
    ["0 L-3W * * *", 'hour "L-3W": L and W are for the day fields; use numbers here'],
    ["0 0 * * 1-5/2L", `day-of-week "1-5/2L": L takes no step; ${WEEKDAY_FORMS}`],
    ["0 0 * * 5L/2", `day-of-week "5L/2": L takes no step; ${WEEKDAY_FORMS}`],
    ["0 0 * * 1-5/2#1", 'day-of-week "1-5/2#1": # takes no step; write a list, such as MON#1,WED#3'],
    ["0 0 * * FRI#1-5/2", 'day-of-week "FRI#1-5/2": # takes no step; write a list, such as MON#1,WED#3'],
    ["0 0 * * FRI#3-1", 'day-of-week "FRI#3-1": the range runs backwards; write FRI#1-3'],
    ["0 0 * * FRI-MON#1", 'day-of-week "FRI-MON#1": the range runs backwards; write FRI-SAT#1,SUN-MON#1'],
    ["0 0 * * 5-1L", 'day-of-week "5-1L": the range runs backwards; write 5-6L,0-1L'],
    ["0 0 * * SAT-SUN-L", 'day-of-week "SAT-SUN-L": a range has two ends; write a-b, or a list of ranges'],
    ["0 0 * * MON-#1", 'day-of-week "MON-#1": the range has an open end; write a-b#1'],
    ["0 0 * * FRI#2-L", 'day-of-week "FRI#2-L": L after # stands alone; write d#L for the last weekday d'],
    ["0 0 * * FRI#L-1", 'day-of-week "FRI#L-1": L after # stands alone; write d#L for the last weekday d'],
    ["0 0 * * *#1", 'day-of-week "*#1": is neither a whole number nor a name; use 0-7 (0 and 7 are Sunday) or SUN-SAT'],
    [
      "0 0 * * MON#3-6",
      'day-of-week "MON#3-6": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last',
    ],
    ["0 0 * * 8L", 'day-of-week "8L": 8 is out of range; use 0-7 (0 and 7 are Sunday) or SUN-SAT'],
    [
      "0 0 * * MON#6",
      'day-of-week "MON#6": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last',
    ],
    [
      "0 0 * * MON#0",
      'day-of-week "MON#0": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last',
    ],
    [
      "0 0 * * MON#1#2",
      'day-of-week "MON#1#2": a month has at most five of a weekday; write 1 to 5 after #, or dL for the last',
    ],
    ["0 0 * * #2", 'day-of-week "#2": a value is missing; use 0-7 (0 and 7 are Sunday) or SUN-SAT'],
  ])("%j", (expression, message) => {
    expect(refusalOf(expression)).toEqual({ code: "cron_invalid", message });
  });

  it("257 characters are refused, and quoted only in part", () => {
    const expression = "0 0 * * *".padEnd(257, " ");
    const quoted = `${expression.slice(0, 40)}…`;
    expect(refusalOf(expression)).toEqual({
      code: "cron_invalid",
      message: `expression "${quoted}": is 257 characters long; the most is 256`,
    });
  });
});

describe("an expression that can never fire is refused by name", () => {
  it.each([
    ["0 0 30 2 *", 'day-of-month "30" with month "2"'],
    ["0 0 31 2,4,6,9,11 *", 'day-of-month "31" with month "2,4,6,9,11"'],
    ["0 0 31W APR *", 'day-of-month "31W" with month "APR"'],
    ["0 0 L-29 2 *", 'day-of-month "L-29" with month "2"'],
    ["0 0 L-29W 2 *", 'day-of-month "L-29W" with month "2"'],
    ["0 0 L-30 FEB,JUN ?", 'day-of-month "L-30" with month "FEB,JUN"'],
    ["* * * 30,31 2 *", 'day-of-month "30,31" with month "2"'],
  ])("%j", (expression, which) => {
    const message = `${which}: there is no such day in any year; choose days that one of the months has, such as L for its last day`;
    expect(refusalOf(expression)).toEqual({ code: "cron_never_fires", message });
  });

  it.each([
    ["0 0 8-31 * MON#1", 'day-of-month "8-31" with day-of-week "MON#1"'],
    ["0 0 LW * SAT", 'day-of-month "LW" with day-of-week "SAT"'],
    ["0 0 1-21 * FRIL", 'day-of-month "1-21" with day-of-week "FRIL"'],
    ["0 0 28 2 SAT#5", 'day-of-month "28" with day-of-week "SAT#5" with month "2"'],
  ])("%j under day_match and", (expression, which) => {
    const message = `${which}: no day in any year matches both day fields; choose days that meet, or day_match "or"`;
    expect(refusalOf(expression, "and")).toEqual({ code: "cron_never_fires", message });
    expect(refusalOf(expression, "or").code).toBe("accepted");
  });

  it.each(["0 0 29 2 *", "0 0 * 2 FRI#5", "0 0 30 2 MON", "0 0 L-28 2 *", "0 0 29W 2 *", "0 0 31 1-12 *"])(
    "%j is not",
    (expression) => {
      expect(refusalOf(expression).code).toBe("accepted");
    },
  );
});
