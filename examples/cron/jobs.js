// Jobs by a cron expression, at an interval, and on business days; defined again at every start.
import { task } from "carillon";

export const report = task({
  name: "report",
  timeout: "10m",
  run: ({ what }, ctx) => {
    ctx.log.info("made", { what, planned: new Date(ctx.scheduledFor).toISOString() });
    return { what };
  },
});

/** The jobs, by their keys: the same call can be made at every start, and changes nothing the second time. */
export async function define(app, { daily = "30 2 * * *", every = "15m" } = {}) {
  const zone = { timeZone: "Europe/Paris" };
  return [
    // Misses nothing for long: after an outage the latest night is made up for.
    await app.schedule(report, "report.daily", { cron: daily, ...zone, payload: { what: "day" }, misfire: "run_once" }),
    // A run that takes longer than the interval is not run twice at a time.
    await app.schedule(report, "report.often", { every, jitter: "30s", payload: { what: "quarter" }, overlap: "skip" }),
    await app.schedule(report, "report.monthly", { cron: "0 9 LW * *", ...zone, payload: { what: "month" } }),
  ];
}
