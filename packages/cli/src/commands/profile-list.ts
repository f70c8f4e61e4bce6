import type { CommandModule } from "../command.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { profileColumns, shownProfile } from "../output/profile-view.js";
import { readProfiles } from "../profiles.js";

export const command: CommandModule = {
  define(target) {
    withOutputForm(target).addHelpText(
      "after",
      `
Keys are never shown.

Example:
  $ carillon profile list`,
    );
  },
  async run(io, invocation) {
    const { current, profiles } = readProfiles(io.env);
    const chosen = io.env["CARILLON_PROFILE"] || current;
    const rows = Object.entries(profiles).map(([name, profile]) => shownProfile(name, profile, name === chosen));
    const page = async () => ({ rows, next: null });
    const form = outputForm(invocation);
    await printList(io, { form, limit: rows.length, columns: profileColumns, noun: "profiles", page });
    if (io.env["CARILLON_URL"]) io.info("carillon: CARILLON_URL is set and wins over the profile in use");
  },
};
