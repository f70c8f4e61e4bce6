// Jobs with a cron expression, an interval, and a business day. The application defines them again at every start.
import { task } from "carillon";

export const report = task({
  name: "report",
  timeout: "10m",
  run: ({ what }, ctx) => {
    ctx.log.info("made", { what, planned: new Date(ctx.scheduledFor).toISOString() });
    return { what };
  },
});

/** Creates the jobs, identified by their keys: calling it again at the next start changes nothing. */
export async function define(app, { daily = "30 2 * * *", every = "15m" } = {}) {
  const zone = { timeZone: "Europe/Paris" };
  return [
    // After an outage, the latest missed night is caught up.
    await app.schedule(report, "report.daily", { cron: daily, ...zone, payload: { what: "day" }, misfire: "run_once" }),
    // If a run takes longer than the interval, the next one is skipped.
    await app.schedule(report, "report.often", { every, jitter: "30s", payload: { what: "quarter" }, overlap: "skip" }),
    await app.schedule(report, "report.monthly", { cron: "0 9 LW * *", ...zone, payload: { what: "month" } }),
  ];
}
