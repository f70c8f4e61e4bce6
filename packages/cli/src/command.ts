import type { Command } from "commander";
import type { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";

export interface DescribedFlag {
  /** With its dashes. */
  readonly long: string;
  readonly short?: string;
  readonly summary: string;
  readonly takesValue: boolean;
  /** Every value that it may have, where those are few. */
  readonly choices: readonly string[];
}

/** A command and what may follow it. */
export interface DescribedCommand {
  readonly path: readonly string[];
  readonly summary: string;
  readonly flags: readonly DescribedFlag[];
  /** Every value of its first argument, where those are few. */
  readonly choices: readonly string[];
}

/** What the user typed, as commander understood it. */
export interface Invocation {
  /** Every command there is; reads all of their modules. */
  readonly describeAll: () => Promise<readonly DescribedCommand[]>;
  readonly args: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** One file of commands/: options and help, and what it does. Loaded only when it is called. */
export interface CommandModule {
  define(command: Command): void;
  /** Returns the exit code; 0 when it returns nothing. */
  run(io: Io, invocation: Invocation): Promise<ExitCode | void>;
}

/** An option that takes text, or undefined when it was not given. */
export function textOption(invocation: Invocation, name: string): string | undefined {
  const value = invocation.options[name];
  return typeof value === "string" ? value : undefined;
}

export const flagOption = (invocation: Invocation, name: string): boolean => invocation.options[name] === true;

/** An argument that commander has already required. */
export function requiredArg(invocation: Invocation, index: number): string {
  const value = invocation.args[index];
  if (value === undefined) throw new Error(`argument ${index} is missing although it is required`);
  return value;
}
