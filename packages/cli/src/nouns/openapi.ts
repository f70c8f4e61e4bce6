import { openApiDocument } from "@carillon/contract";
import { Option } from "commander";
import type { CommandBody } from "../command.js";
import { renderJson } from "../output.js";
import { packageVersion } from "../package-version.js";

export const openapi: CommandBody = {
  define: (target) =>
    target
      .addOption(new Option("-o, --output <form>", "how to print").choices(["json", "jsonl", "yaml"]).default("json"))
      .option("--json", "the same as -o json"),
  notes: "Needs no server: it is the API of this version. A server serves its own at /openapi.json.",
  examples: ["carillon openapi > openapi.json", "carillon openapi -o yaml"],
  async run(io, { options }) {
    const form = options["json"] === true ? "json" : options["output"];
    const document = openApiDocument(packageVersion());
    await io.out(renderJson(document, form === "yaml" || form === "jsonl" ? form : "json"));
  },
};
