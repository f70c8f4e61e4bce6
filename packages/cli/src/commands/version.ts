import type { CommandModule } from "../command.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderFields } from "../table.js";
import { packageVersion } from "../package-version.js";

export const command: CommandModule = {
  define: (target) => void withOutputForm(target),
  async run(io, invocation) {
    const versions = {
      carillon: packageVersion(),
      node: process.versions.node,
      zone_data: process.versions["tz"] ?? null,
    };
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderFields(Object.entries(versions)) : renderJson(versions, form));
  },
};
