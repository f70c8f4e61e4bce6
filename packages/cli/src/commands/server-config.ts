import { type SettingView, describeConfig } from "@carillon/server";
import type { CommandModule } from "../command.js";
import { configOf, withConfigFlags } from "../config-flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { type Column, renderTable } from "../table.js";

const columns: readonly Column<SettingView>[] = [
  { title: "SETTING", value: ({ key }) => key },
  { title: "VALUE", value: ({ value }) => (Array.isArray(value) ? value.join(",") : value) },
  { title: "FROM", value: ({ origin }) => origin },
  { title: "MEANING", value: ({ doc }) => doc },
];

export const command: CommandModule = {
  define(target) {
    withConfigFlags(withOutputForm(target)).addHelpText(
      "after",
      `
Settings come from flags, then CARILLON_* variables, then carillon.config.json, then defaults. Passwords are masked.

Examples:
  $ carillon server config
  $ CARILLON_PORT=9000 carillon server config --json`,
    );
  },
  async run(io, invocation) {
    const settings = describeConfig(configOf(io, invocation));
    const form = outputForm(invocation);
    if (form === "table") return io.out(renderTable(columns, settings));
    if (form !== "jsonl") return io.out(renderJson(settings, form));
    for (const setting of settings) await io.out(renderJson(setting, form));
  },
};
