import { type Finding, createLogger, examine } from "@carillon/server";
import type { CommandModule } from "../command.js";
import { configOf, withConfigFlags } from "../config-flags.js";
import { ExitCode } from "../exit-codes.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { type Paint, painter } from "../table.js";

const STYLE = { ok: "green", warn: "yellow", fail: "red" } as const;
const NAME_WIDTH = 10;

export const command: CommandModule = {
  define(target) {
    withConfigFlags(withOutputForm(target)).addHelpText(
      "after",
      `
Starts nothing and changes nothing. Exit code 1 if anything fails.

Examples:
  $ carillon doctor
  $ carillon doctor --database-url postgres://carillon@db.example/carillon --json`,
    );
  },
  async run(io, invocation) {
    const { config } = configOf(io, invocation);
    // The findings say what the log would.
    const logger = createLogger(
      { ...config, logLevel: "silent" },
      { stream: io.stderr, isTerminal: false, colour: false },
    );
    const findings = await examine({ config, logger });
    const form = outputForm(invocation);
    if (form === "table")
      await io.out(findings.map((finding) => renderFinding(finding, painter(io.stdoutColour))).join(""));
    else if (form === "jsonl") await io.out(findings.map((finding) => renderJson(finding, form)).join(""));
    else await io.out(renderJson(findings, form));
    return findings.some(({ status }) => status === "fail") ? ExitCode.failure : ExitCode.ok;
  },
};

function renderFinding({ name, status, detail, remedy }: Finding, paint: Paint): string {
  const remedyLine = remedy === undefined ? "" : `${" ".repeat(NAME_WIDTH + 8)}${paint("gray", `→ ${remedy}`)}\n`;
  return `${paint(STYLE[status], status.padEnd(4))}  ${name.padEnd(NAME_WIDTH)}  ${detail}\n${remedyLine}`;
}
