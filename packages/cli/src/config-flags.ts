import {
  CONFIG_FILE,
  type OptionName,
  type ResolvedConfig,
  flagName,
  loadConfig,
  optionNames,
  settingHelp,
} from "@carillon/server";
import { type Command, Option } from "commander";
import { type Invocation, textOption } from "./command.js";
import type { Io } from "./io.js";

/** Adds a flag for every setting of a node, or for the named ones. */
export function withConfigFlags(command: Command, names: readonly OptionName[] = optionNames): Command {
  const add = (flags: string, text: string): Command =>
    command.addOption(new Option(flags, text).helpGroup("Settings, also as CARILLON_… variables:"));
  for (const name of names) add(`${flagName(name)} <value>`, settingHelp(name));
  return add("--config <file>", `settings file (default: ${CONFIG_FILE} here, if there is one)`);
}

/** The configuration in force for this command line. Throws config_invalid with the list of all faults. */
export function configOf(io: Io, invocation: Invocation): ResolvedConfig {
  const flags: Partial<Record<OptionName, string>> = {};
  for (const name of optionNames) {
    const value = textOption(invocation, name);
    if (value !== undefined) flags[name] = value;
  }
  const configPath = textOption(invocation, "config");
  return loadConfig({ flags, env: io.env, cwd: io.cwd, ...(configPath !== undefined && { configPath }) });
}
