import type { Command } from "commander";
import type { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";

export interface DescribedFlag {
  /** With its dashes. */
  readonly long: string;
  readonly short?: string;
  readonly summary: string;
  readonly takesValue: boolean;
  /** Every value that it may have, if there are few. */
  readonly choices: readonly string[];
}

/** A command with its flags, for completion scripts and the reference. */
export interface DescribedCommand {
  readonly path: readonly string[];
  readonly summary: string;
  readonly changes: boolean;
  readonly flags: readonly DescribedFlag[];
  /** Every value of its first argument, if there are few. */
  readonly choices: readonly string[];
}

/** What the user typed, as commander parsed it. */
export interface Invocation {
  readonly args: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a command does, without its line in the help of its noun. */
export interface CommandBody {
  /** Declares arguments and flags. */
  readonly define?: (target: Command) => unknown;
  /** Printed after the flags: what the summary does not say. */
  readonly notes?: string;
  /** Lines as the user types them. */
  readonly examples?: readonly string[];
  /** Returns the exit code; 0 if it returns nothing. */
  readonly run: (io: Io, invocation: Invocation) => Promise<ExitCode | void>;
}

interface CommandSummary {
  readonly summary: string;
  /** It changes something, and prints how to undo that. */
  readonly changes?: true;
}

/** The whole declaration of one command; its name is its key in the file of its noun. */
export interface CommandSpec extends CommandSummary, CommandBody {}

/** A command whose body needs modules that the other commands of its noun must not load. */
export interface LazyCommandSpec extends CommandSummary {
  readonly load: () => Promise<CommandBody>;
}

/** The commands of a noun by verb, in the order of the help. */
export type Commands = Readonly<Record<string, CommandSpec | LazyCommandSpec>>;

/** An option that takes text; undefined if it was not given. */
export function textOption({ options }: Invocation, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** An option that takes a number; undefined if it was not given. */
export function numberOption({ options }: Invocation, name: string): number | undefined {
  const value = options[name];
  return typeof value === "number" ? value : undefined;
}

export const flagOption = (invocation: Invocation, name: string): boolean => invocation.options[name] === true;

/** The given text options under their own names, as fields of a request. */
export function textFields<Name extends string>(
  invocation: Invocation,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const fields: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = textOption(invocation, name);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/** An argument that commander has already required. */
export function requiredArg(invocation: Invocation, index: number): string {
  const value = invocation.args[index];
  if (value === undefined) throw new Error(`argument ${index} is missing although it is required`);
  return value;
}
