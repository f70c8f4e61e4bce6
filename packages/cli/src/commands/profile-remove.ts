import { type CommandModule, requiredArg } from "../command.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { shownProfile } from "../output/profile-view.js";
import { profileNamed, readProfiles, writeProfiles } from "../profiles.js";
import { printUndo, shellWord } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withOutputForm(target.argument("<name>", "as carillon profile list shows it")).addHelpText(
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
    const removed = profileNamed({ current, profiles }, name);
    const { [name]: _, ...rest } = profiles;
    writeProfiles(io.env, { current: current === name ? null : current, profiles: rest });
    const form = outputForm(invocation);
    if (form !== "table") await io.out(renderJson(shownProfile(name, removed, false), form));
    const { url, namespace, token } = removed;
    const login = [
      `login ${shellWord(url)} --profile ${name}`,
      ...(namespace === undefined ? [] : [`--namespace ${namespace}`]),
      ...(token === undefined ? ["--no-key"] : []),
    ].join(" ");
    // A login is also a choice, which was another one before.
    const back = current === name ? "" : ` && carillon profile use ${current ?? "--none"}`;
    printUndo(io, invocation, "removed", `${login}${back}`);
  },
};
