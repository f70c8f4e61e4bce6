import { type Command, Option } from "commander";
import type { Invocation } from "../command.js";

const levels = ["debug", "info", "warn", "error"] as const;

export function withLevel(target: Command): Command {
  return target.addOption(new Option("--level <level>", "this level and those above").choices(levels));
}

export function levelOption({ options }: Invocation): (typeof levels)[number] | undefined {
  return levels.find((level) => level === options["level"]);
}
