import { type CommandModule, requiredArg } from "../command.js";
import { shellWord } from "../output/shell-word.js";
import { sayUndo } from "../output/undo.js";
import { profileNamed, readProfiles, writeProfiles } from "../profile/profiles.js";

export const command: CommandModule = {
  define(target) {
    target.argument("<name>", "as carillon profile list shows it").addHelpText(
      "after",
      `
Its key is removed from this machine and stays valid at the server.

Example:
  $ carillon profile remove production`,
    );
  },
  async run(io, invocation) {
    const name = requiredArg(invocation, 0);
    const { current, profiles } = readProfiles(io.env);
    const { url } = profileNamed({ current, profiles }, name);
    const { [name]: _, ...rest } = profiles;
    writeProfiles(io.env, { current: current === name ? null : current, profiles: rest });
    sayUndo(io, invocation, "removed", `login ${shellWord(url)} --profile ${name}`);
  },
};
