import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";
import type { Io } from "../io.js";

/** JSON from the command line itself, from @file, or from standard input with -. */
export async function readJsonArgument(io: Io, given: string, flag: string): Promise<unknown> {
  const source = await sourceText(io, given, flag);
  try {
    return JSON.parse(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = given === source ? "; quote it for the shell, as in '{\"a\":1}'" : "";
    throw new CliError(ExitCode.usage, `${flag} is not JSON: ${reason}${hint}`);
  }
}

async function sourceText(io: Io, given: string, flag: string): Promise<string> {
  if (given === "-") return text(io.stdin);
  if (!given.startsWith("@")) return given;
  try {
    return await readFile(given.slice(1), "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(ExitCode.usage, `${flag}: ${reason}`);
  }
}
