import { type CommandModule, flagOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { shownProfile } from "../output/profile-view.js";
import { profileNamed, readProfiles, writeProfiles } from "../profiles.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withOutputForm(target.argument("[name]", "from now on"))
      .option("--none", "no profile: the server of this machine, unless a flag or a variable says another")
      .addHelpText(
        "after",
        `
Examples:
  $ carillon profile use production
  $ carillon profile use --none`,
      );
  },
  async run(io, invocation) {
    const [name] = invocation.args;
    const isNone = flagOption(invocation, "none");
    if ((name === undefined) !== isNone) throw new CliError(ExitCode.usage, "say one of a profile's name and --none");
    const stored = readProfiles(io.env);
    const place = name === undefined ? "the server of this machine" : profileNamed(stored, name).url;
    writeProfiles(io.env, { ...stored, current: name ?? null });
    const form = outputForm(invocation);
    if (form !== "table")
      await io.out(renderJson(name === undefined ? null : shownProfile(name, profileNamed(stored, name), true), form));
    printUndo(io, invocation, `commands go to ${place}`, `profile use ${stored.current ?? "--none"}`);
  },
};
