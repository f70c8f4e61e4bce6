import {
  createLogger,
  describeConfig,
  examine,
  type Finding,
  migrateDatabase,
  type SettingView,
} from "@carillon/server";
import { type CommandBody, type Commands, flagOption } from "../command.js";
import { configOf, withConfigFlags } from "../config-flags.js";
import { ExitCode } from "../exit-codes.js";
import { runNodeProcess, serverLogger } from "../node-process.js";
import {
  type Column,
  outputForm,
  type Paint,
  painter,
  renderJson,
  renderRows,
  renderTable,
  withOutputForm,
} from "../output.js";
import { packageVersion } from "../package-version.js";
import { printNoUndo } from "../undo.js";

const settingColumns: readonly Column<SettingView>[] = [
  { title: "SETTING", value: ({ key }) => key },
  { title: "VALUE", value: ({ value }) => (Array.isArray(value) ? value.join(",") : value) },
  { title: "FROM", value: ({ origin }) => origin },
  { title: "MEANING", value: ({ doc }) => doc },
];

export const serverCommands: Commands = {
  start: {
    summary: "run a node",
    define: (target) => withConfigFlags(target),
    notes: `
Runs until SIGINT or SIGTERM: then it stops listening, and lets runs end within --shutdown-grace-period or gives them back. A second
signal ends it immediately. Every flag has a variable (CARILLON_PORT) and a key in carillon.config.json (port).`,
    examples: [
      "carillon server start --database-url postgres://carillon@db.example/carillon",
      "CARILLON_PORT=9000 carillon server start",
    ],
    async run(io, invocation) {
      const { config } = configOf(io, invocation);
      const onReady = ({ url }: { url: string }): void => io.info(`carillon: listening on ${url}`);
      return runNodeProcess(io, { config, dev: false, reset: false, onReady });
    },
  },
  migrate: {
    summary: "bring the database's schema up to date",
    changes: true,
    define: (target) =>
      withConfigFlags(withOutputForm(target).option("--dry-run", "list the migrations that would run, and run none")),
    notes: `
Nodes migrate the database when they start; this command does it beforehand. It is safe while nodes of the previous version run.
There is no way back: migrations are forward only.`,
    examples: [
      "carillon server migrate --dry-run",
      "carillon server migrate --database-url postgres://owner@db.example/carillon",
    ],
    async run(io, invocation) {
      const { config } = configOf(io, invocation);
      const dryRun = flagOption(invocation, "dryRun");
      const logger = serverLogger(io, config);
      const report = await migrateDatabase({ config, logger, version: packageVersion(), dryRun, process });
      const form = outputForm(invocation);
      if (report.creates !== undefined)
        io.info(
          `carillon: there is no database in ${report.creates} yet; without --dry-run it is created, and all migrations run`,
        );
      if (form !== "table") return io.out(renderJson(report, form));
      const labels = dryRun ? report.pending : report.applied;
      for (const label of labels) await io.out(`${label}\n`);
      if (labels.length === 0) io.info("carillon: the schema is up to date");
      else if (dryRun) io.info("carillon: nothing was run; leave out --dry-run to run these");
      else printNoUndo(io, "migrated", "migrations are forward only, the way back is a backup");
    },
  },
  config: {
    summary: "show every setting and where it comes from",
    define: (target) => withConfigFlags(withOutputForm(target)),
    notes: `
Settings come from flags, then CARILLON_* variables, then carillon.config.json, then defaults. Passwords are masked.`,
    examples: ["carillon server config", "CARILLON_PORT=9000 carillon server config --json"],
    async run(io, invocation) {
      const settings = describeConfig(configOf(io, invocation));
      const form = outputForm(invocation);
      await io.out(form === "table" ? renderTable(settingColumns, settings) : renderRows(settings, form));
    },
  },
};

const statusStyles = { ok: "green", warn: "yellow", fail: "red" } as const;
const nameWidth = 10;

export const doctor: CommandBody = {
  define: (target) => withConfigFlags(withOutputForm(target)),
  notes: "Starts nothing and changes nothing. Exit code 1 if anything fails.",
  examples: ["carillon doctor", "carillon doctor --database-url postgres://carillon@db.example/carillon --json"],
  async run(io, invocation) {
    const { config } = configOf(io, invocation);
    // The findings contain what the log would.
    const logger = createLogger(
      { ...config, logLevel: "silent" },
      { stream: io.stderr, isTerminal: false, colour: false },
    );
    const findings = await examine({ config, logger });
    const form = outputForm(invocation);
    const paint = painter(io.stdoutColour);
    if (form === "table") await io.out(findings.map((finding) => renderFinding(finding, paint)).join(""));
    else await io.out(renderRows(findings, form));
    return findings.some(({ status }) => status === "fail") ? ExitCode.failure : ExitCode.ok;
  },
};

function renderFinding({ name, status, detail, remedy }: Finding, paint: Paint): string {
  const remedyLine = remedy === undefined ? "" : `${" ".repeat(nameWidth + 8)}${paint("gray", `→ ${remedy}`)}\n`;
  return `${paint(statusStyles[status], status.padEnd(4))}  ${name.padEnd(nameWidth)}  ${detail}\n${remedyLine}`;
}
