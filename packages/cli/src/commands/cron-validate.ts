import { CarillonError, describeSchedule, requireSchedule } from "@carillon/core";
import { type CommandModule, requiredArg } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { cronOf } from "../input/cron-flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";

interface Verdict {
  readonly expression: string;
  readonly valid: boolean;
  readonly description?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export const command: CommandModule = {
  define(target) {
    target
      .argument("<expression>", "five fields, six with seconds first, or a macro such as @daily")
      .option("--tz <zone>", "time zone, as in Europe/Paris", "UTC");
    withOutputForm(target).addHelpText(
      "after",
      `
Exit code 0 if it is valid, 1 if not.

Example:
  $ carillon cron validate '0 0 30 2 *'`,
    );
  },
  async run(io, invocation) {
    const verdict = judge(requiredArg(invocation, 0), () => {
      const spec = cronOf(invocation);
      requireSchedule(spec);
      return describeSchedule(spec);
    });
    const form = outputForm(invocation);
    if (form !== "table") await io.out(renderJson(verdict, form));
    else if (verdict.error === undefined) await io.out(`valid: ${verdict.description}\n`);
    else await io.out(`not valid: ${verdict.error.message}\n`);
    return verdict.valid ? ExitCode.ok : ExitCode.failure;
  },
};

function judge(expression: string, describe: () => string): Verdict {
  try {
    return { expression, valid: true, description: describe() };
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return { expression, valid: false, error: { code: error.code, message: error.message } };
  }
}
