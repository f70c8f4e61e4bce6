// A chain of jobs: extract every night, then clean, then load. An alert runs when one of them fails for good.
import { task } from "carillon";

export const extract = task({
  name: "etl.extract",
  run: async ({ source }) => ({ source, rows: source === "empty" ? 0 : 42, file: `/tmp/${source}.csv` }),
});
// `upstream` returns the runs whose ends started this one, with status and output.
export const clean = task({
  name: "etl.clean",
  run: async (_payload, { upstream }) => {
    const [extracted] = await upstream();
    return { file: extracted.output.file, kept: extracted.output.rows - 2 };
  },
});
export const load = task({
  name: "etl.load",
  run: async ({ table }, { upstream }) => {
    const [cleaned] = await upstream();
    return { table, loaded: cleaned.output.kept };
  },
});
export const alert = task({
  name: "etl.alert",
  run: async (_payload, { upstream }) => {
    const [failed] = await upstream();
    return `${failed.jobKey} failed: ${failed.error.message}`;
  },
});

export const tasks = [extract, clean, load, alert];

/** Creates the jobs, identified by their keys: calling it again at the next start changes nothing. */
export async function define(app, { cron = "0 2 * * *", source = "shop" } = {}) {
  await app.schedule(extract, "etl.extract", { cron, timeZone: "Europe/Paris", payload: { source } });
  // Skipped when the extract found no rows; the ledger of etl.clean records each such night.
  await app.schedule(clean, "etl.clean", { after: [{ job: "etl.extract", when: "output.rows > 0" }] });
  await app.schedule(load, "etl.load", { after: [{ job: "etl.clean" }], payload: { table: "orders" } });
  await app.schedule(alert, "etl.alert", {
    after: ["etl.extract", "etl.clean", "etl.load"].map((job) => ({ job, on: "failure" })),
    mode: "any",
    overlap: "queue_one",
  });
}
