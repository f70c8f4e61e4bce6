import { openApiDocument } from "@carillon/contract";
import { Option } from "commander";
import type { CommandModule } from "../command.js";
import { renderJson } from "../output.js";
import { packageVersion } from "../package-version.js";

export const command: CommandModule = {
  define(target) {
    target
      .addOption(new Option("-o, --output <form>", "how to print").choices(["json", "jsonl", "yaml"]).default("json"))
      .option("--json", "the same as -o json")
      .addHelpText(
        "after",
        `
Needs no server: it is the API of this version. A server shows its own at /openapi.json.

Examples:
  $ carillon openapi > openapi.json
  $ carillon openapi -o yaml`,
      );
  },
  async run(io, { options }) {
    const form = options["json"] === true ? "json" : options["output"];
    const document = openApiDocument(packageVersion());
    await io.out(renderJson(document, form === "yaml" || form === "jsonl" ? form : "json"));
  },
};
