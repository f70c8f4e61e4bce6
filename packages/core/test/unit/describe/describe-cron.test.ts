import { describe, expect, it } from "vitest";
import { describeCron } from "../../../src/describe/describe-cron.js";

const table: readonly [cron: string, words: string][] = [
  // Paces and single fields
  ["* * * * *", "Every minute"],
  ["*/1 * * * *", "Every minute"],
  ["*/5 * * * *", "Every 5 minutes"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["*/7 * * * *", "At every 7th minute of every hour"],
  ["*/60 * * * *", "At minute 0 of every hour"],
  ["0 * * * *", "At minute 0 of every hour"],
  ["5,35 * * * *", "At minutes 5 and 35 of every hour"],
  ["35,5,5 * * * *", "At minutes 5 and 35 of every hour"],
  ["0-29 * * * *", "At minutes 0 through 29 of every hour"],
  ["10-50/10 * * * *", "At every 10th minute from 10 through 50 of every hour"],
  ["5/10 * * * *", "At every 10th minute from 5 through 55 of every hour"],
  ["1,5-10,*/20 * * * *", "At minutes 1 and 5 through 10 and every 20th minute of every hour"],
  ["1,*/20 * * * *", "At minute 1 and every 20th minute of every hour"],
  // Times of day
  ["30 9 * * *", "At 09:30 every day"],
  ["0 9,17 * * *", "At 09:00 and 17:00 every day"],
  ["0,30 8,9 * * *", "At 08:00, 08:30, 09:00 and 09:30 every day"],
  ["0 5-5 * * *", "At 05:00 every day"],
  ["0 9-17 * * *", "Every hour from 09:00 through 17:00 every day"],
  ["30 8-18/2 * * *", "Every 2 hours from 08:30 through 18:30 every day"],
  ["0 8-17/2 * * *", "Every 2 hours from 08:00 through 16:00 every day"],
  ["0 */2 * * *", "Every 2 hours from 00:00 through 22:00 every day"],
  ["0 */5 * * *", "Every 5 hours from 00:00 through 20:00 every day"],
  ["0 */24 * * *", "At 00:00 every day"],
  ["15,45 */2 * * *", "At minutes 15 and 45 of every 2nd hour every day"],
  ["*/15 9-17 * * *", "Every 15 minutes from 09:00 through 17:59 every day"],
  ["*/15 9 * * *", "Every 15 minutes from 09:00 through 09:59 every day"],
  ["*/15 9,12,15-17 * * *", "Every 15 minutes of hours 9, 12 and 15 through 17 every day"],
  ["5,7-9 3-4 * * *", "At minutes 5 and 7 through 9 of hours 3 through 4 every day"],
  ["0 22-23,0-2 * * *", "At minute 0 of hours 22 through 23 and 0 through 2 every day"],
  ["0,10,20,30,40,50 1,2,3 * * *", "At minutes 0, 10, 20, 30, 40 and 50 of hours 1, 2 and 3 every day"],
  // Six fields
  ["* * * * * *", "Every second"],
  ["*/10 * * * * *", "Every 10 seconds"],
  ["30 * * * * *", "At second 30 of every minute"],
  ["0,30 * * * * *", "At seconds 0 and 30 of every minute"],
  ["0 */5 * * * *", "Every 5 minutes"],
  ["*/10 */5 9-17 * * *", "Every 10 seconds of every 5th minute of hours 9 through 17 every day"],
  ["* * 9-17 * * *", "Every second from 09:00 through 17:59 every day"],
  ["15 30 9 * * *", "At 09:30:15 every day"],
  ["15 0 */2 * * *", "Every 2 hours from 00:00:15 through 22:00:15 every day"],
  ["59 59 23 31 12 *", "At 23:59:59 on day 31 of December"],
  ["0 0 0 ? * MON-FRI", "At 00:00 on Monday through Friday"],
  // Days of the week
  ["30 9 * * 1-5", "At 09:30 on Monday through Friday"],
  ["30 9 * * MON,WED,FRI", "At 09:30 on Monday, Wednesday and Friday"],
  ["0 9 * * 7", "At 09:00 on Sunday"],
  ["0 9 * * 0,7", "At 09:00 on Sunday"],
  ["0 9 * * 5-7", "At 09:00 on Friday through Sunday"],
  ["0 9 * * 0-7", "At 09:00 on every day of the week"],
  ["0 9 * * */2", "At 09:00 on Sunday, Tuesday, Thursday and Saturday"],
  ["0 9 * * 1-5/2", "At 09:00 on Monday, Wednesday and Friday"],
  ["0 9 * * MON#2", "At 09:00 on the 2nd Monday of the month"],
  ["0 9 * * FRI#2,FRI#4", "At 09:00 on the 2nd Friday and the 4th Friday of the month"],
  ["0 9 * * 5L", "At 09:00 on the last Friday of the month"],
  ["0 9 * * FRI#L", "At 09:00 on the last Friday of the month"],
  ["0 9 * * FRI#1-3", "At 09:00 on the 1st Friday, the 2nd Friday and the 3rd Friday of the month"],
  ["0 9 * * MON-TUE#1", "At 09:00 on the 1st Monday and the 1st Tuesday of the month"],
  ["0 9 * * 6-7L", "At 09:00 on the last Saturday and the last Sunday of the month"],
  ["0 9 * * MON,FRI#3", "At 09:00 on Monday and the 3rd Friday of the month"],
  ["*/30 * * * SAT", "Every 30 minutes on Saturday"],
  // Days of the month
  ["0 0 1 * *", "At 00:00 on day 1 of the month"],
  ["0 0 1,15 * *", "At 00:00 on days 1 and 15 of the month"],
  ["0 0 1-7 * *", "At 00:00 on days 1 through 7 of the month"],
  ["0 0 */2 * *", "At 00:00 on every 2nd day from day 1 of the month"],
  ["0 0 1-15/2 * *", "At 00:00 on every 2nd day from day 1 through 15 of the month"],
  ["0 0 L * *", "At 00:00 on the last day of the month"],
  ["0 0 L-1 * *", "At 00:00 on the day before the last day of the month"],
  ["0 0 L-3 * *", "At 00:00 on the day 3 days before the last day of the month"],
  ["0 0 LW * *", "At 00:00 on the last workday of the month"],
  ["0 0 L-0W * *", "At 00:00 on the last workday of the month"],
  ["0 0 L-1W * *", "At 00:00 on the workday nearest the day before the last day of the month"],
  ["0 0 L-3W FEB *", "At 00:00 on the workday nearest the day 3 days before the last day of February"],
  ["0 0 15W * *", "At 00:00 on the workday nearest day 15 of the month"],
  ["0 0 1W,LW * *", "At 00:00 on the workday nearest day 1 and the last workday of the month"],
  ["0 0 1,L * *", "At 00:00 on day 1 and the last day of the month"],
  // Months
  ["0 9 * 1,7 *", "At 09:00 every day in January and July"],
  ["0 9 * */3 *", "At 09:00 every day in January, April, July and October"],
  ["* * * JUN-AUG *", "Every minute in June through August"],
  ["0 9 * 3-5 MON", "At 09:00 on Monday in March through May"],
  ["0 0 29 2 *", "At 00:00 on day 29 of February"],
  ["0 9 * MAR MON#1", "At 09:00 on the 1st Monday of March"],
  ["0 9 * MAR TUE,MON#1", "At 09:00 on Tuesday and the 1st Monday of the month in March"],
  // Both day fields
  ["0 0 13 * FRI", "At 00:00 on day 13 of the month or on Friday"],
  ["0 9 1 3 MON", "At 09:00 on day 1 of March or on Monday in March"],
  ["0 9 L FEB MON#1", "At 09:00 on the last day of February or on the 1st Monday of February"],
  ["0 0 1 * */2", "At 00:00 on day 1 of the month or on Sunday, Tuesday, Thursday and Saturday"],
  // Macros
  ["@yearly", "At 00:00 on day 1 of January"],
  ["@monthly", "At 00:00 on day 1 of the month"],
  ["@weekly", "At 00:00 on Sunday"],
  ["@Daily", "At 00:00 every day"],
  ["@hourly", "At minute 0 of every hour"],
];

describe("a cron expression in words", () => {
  it.each(table)("describes %s as %j", (cron, words) => {
    expect(describeCron({ cron })).toBe(words);
  });

  it("describes that both day fields must match", () => {
    expect(describeCron({ cron: "0 0 13 * FRI", dayMatch: "and" })).toBe(
      "At 00:00 on day 13 of the month when it is also Friday",
    );
  });
});
