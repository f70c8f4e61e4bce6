import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";

/** Reads one more --label name=value. */
export function label(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw new CliError(ExitCode.usage, `--label ${text}: it must look like name=value`);
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
