import { type Command, Option } from "commander";
import type { Invocation } from "../command.js";

export type OutputForm = "table" | "json" | "jsonl";

/** Adds -o and --json to a command that prints data. */
export function withOutputForm(command: Command): Command {
  return command
    .addOption(new Option("-o, --output <form>", "how to print").choices(["table", "json", "jsonl"]).default("table"))
    .option("--json", "the same as -o json");
}

export function outputForm({ options }: Invocation): OutputForm {
  if (options["json"] === true) return "json";
  const form = options["output"];
  return form === "json" || form === "jsonl" ? form : "table";
}

/** One value as JSON: indented for json, one line for jsonl. */
export const renderJson = (value: unknown, form: "json" | "jsonl"): string =>
  `${form === "json" ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`;
