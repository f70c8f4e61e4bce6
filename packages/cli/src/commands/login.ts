import { createClient } from "@carillon/client";
import { announcedBackoff, serverUrl } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { readSecret } from "../input/secret.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { shownProfile } from "../output/profile-view.js";
import { type Profile, readProfiles, writeProfiles } from "../profiles.js";
import { renderFields } from "../table.js";

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const command: CommandModule = {
  define(target) {
    withOutputForm(target.argument("<url>", "where the server is, as in https://carillon.example.com"))
      .option("--profile <name>", "what to call it", "default")
      .option("--namespace <name>", "whose things commands are about there")
      .option("--no-key", "the server asks for none: store its address alone")
      .addHelpText(
        "after",
        `
Asks for an API key, or reads it from standard input, tries it, and stores it for its owner only (mode 600). From then on commands
go to that server; --profile, CARILLON_PROFILE, --url and CARILLON_URL choose another, CARILLON_TOKEN another key.

Examples:
  $ carillon login https://carillon.example.com
  $ carillon login https://carillon.example.com --profile production --namespace billing < key.txt
  $ carillon login http://127.0.0.1:8023 --profile local --no-key`,
      );
  },
  async run(io, invocation) {
    const url = serverUrl(invocation.args[0] ?? "").replace(/\/+$/, "");
    const name = textOption(invocation, "profile") ?? "default";
    if (!namePattern.test(name))
      throw new CliError(ExitCode.usage, `--profile: ${JSON.stringify(name)} is not letters, digits and . _ -`);
    const before = readProfiles(io.env);
    const namespace = textOption(invocation, "namespace");
    const token = invocation.options["key"] === false ? "" : await readSecret(io, `API key for ${url}: `);
    if (token === "" && invocation.options["key"] !== false)
      throw new CliError(ExitCode.usage, "no key was given; for a server that asks for none say --no-key");
    const profile: Profile = {
      url,
      ...(namespace !== undefined && { namespace }),
      ...(token !== "" && { token }),
    };
    const client = createClient({ ...profile, ...announcedBackoff(io) });
    const { version } = await client.version();
    await client.jobs.list({ page_size: 1 });
    const path = writeProfiles(io.env, { current: name, profiles: { ...before.profiles, [name]: profile } });
    const form = outputForm(invocation);
    const fields = [
      ["profile", name],
      ["url", url],
      ["namespace", namespace],
      ["server", version],
    ] as const;
    await io.out(form === "table" ? renderFields(fields) : renderJson(shownProfile(name, profile, true), form));
    const isNew = before.profiles[name] === undefined;
    const back = before.current === null || before.current === name ? "" : ` && carillon profile use ${before.current}`;
    io.info(`carillon: stored in ${path}`);
    if (isNew) io.info(`carillon: in use; undo with: carillon profile remove ${name}${back}`);
    else io.info(`carillon: in use; there is no undo: it took the place of another profile of that name`);
  },
};
