import { migrateDatabase } from "@carillon/server";
import { type CommandModule, flagOption } from "../command.js";
import { configOf, withConfigFlags } from "../config-flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { serverLogger } from "../node-process.js";
import { packageVersion } from "../package-version.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withConfigFlags(withOutputForm(target).option("--dry-run", "list what would run, and run nothing")).addHelpText(
      "after",
      `
Nodes migrate by themselves when they start; this is for doing it beforehand. Safe while nodes of the version before run.
There is no way back: migrations are forward only.

Examples:
  $ carillon server migrate --dry-run
  $ carillon server migrate --database-url postgres://owner@db.example/carillon`,
    );
  },
  async run(io, invocation) {
    const { config } = configOf(io, invocation);
    const dryRun = flagOption(invocation, "dryRun");
    const report = await migrateDatabase({
      config,
      logger: serverLogger(io, config),
      version: packageVersion(),
      dryRun,
      process,
    });
    const form = outputForm(invocation);
    const { creates } = report;
    if (creates !== undefined)
      io.info(`carillon: there is no database in ${creates} yet; without --dry-run it is made, and all migrations run`);
    if (form !== "table") return io.out(renderJson(report, form));
    const labels = dryRun ? report.pending : report.applied;
    for (const label of labels) await io.out(`${label}\n`);
    if (labels.length === 0) io.info("carillon: the schema is up to date");
    else if (dryRun) io.info("carillon: nothing was run; leave out --dry-run to run these");
    else printNoUndo(io, "migrated", "migrations are forward only, the way back is a backup");
  },
};
