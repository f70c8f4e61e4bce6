import type { CommandBody } from "../command.js";
import { printThing, renderFields, withOutputForm } from "../output.js";
import { packageVersion } from "../package-version.js";

export const version: CommandBody = {
  define: withOutputForm,
  async run(io, invocation) {
    const versions = {
      carillon: packageVersion(),
      node: process.versions.node,
      zone_data: process.versions["tz"] ?? null,
    };
    await printThing(io, invocation, versions, (all) => renderFields(Object.entries(all)));
  },
};
