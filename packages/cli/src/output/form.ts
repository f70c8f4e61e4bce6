import { type Command, Option } from "commander";
import type { Invocation } from "../command.js";
import { renderYaml } from "./yaml.js";

const forms = ["table", "json", "jsonl", "yaml"] as const;

export type OutputForm = (typeof forms)[number];
/** For machines. */
export type DataForm = Exclude<OutputForm, "table">;

/** Adds -o and --json to a command that prints data. */
export function withOutputForm(command: Command): Command {
  return command
    .addOption(new Option("-o, --output <form>", "how to print").choices(forms).default("table"))
    .option("--json", "the same as -o json");
}

export function outputForm({ options }: Pick<Invocation, "options">): OutputForm {
  if (options["json"] === true) return "json";
  return forms.find((form) => form === options["output"]) ?? "table";
}

/** Several values: one document, or with jsonl a line for each. */
export function renderRows(rows: readonly unknown[], form: DataForm): string {
  return form === "jsonl" ? rows.map((row) => renderJson(row, form)).join("") : renderJson(rows, form);
}

/** One of several that come over time: each is whole by itself, a line or a document of YAML. */
export function renderNext(value: unknown, form: DataForm): string {
  return form === "yaml" ? `---\n${renderYaml(value)}` : renderJson(value, "jsonl");
}

/** One value as JSON, indented for json, one line for jsonl; or as YAML. */
export function renderJson(value: unknown, form: DataForm): string {
  if (form === "yaml") return renderYaml(value);
  return `${form === "json" ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`;
}
