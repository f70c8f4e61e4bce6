import { text as readAll } from "node:stream/consumers";
import { createClient } from "@carillon/client";
import { announcedBackoff } from "../client.js";
import { serverUrl } from "../server-address.js";
import { type CommandBody, type Commands, flagOption, requiredArg, textOption } from "../command.js";
import { CliError, ExitCode, usageError } from "../exit-codes.js";
import type { Io, Terminal } from "../io.js";
import {
  type Column,
  fieldColumns,
  outputForm,
  printList,
  printThing,
  renderFields,
  renderJson,
  withOutputForm,
} from "../output.js";
import { type Profile, profileNamed, readProfiles, writeProfiles } from "../profiles.js";
import { printUndo, shellWord } from "../undo.js";

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** A profile without its key. */
type ShownProfile = ReturnType<typeof shownProfile>;

function shownProfile(name: string, { url, namespace, token }: Profile, inUse: boolean) {
  return { name, url, namespace: namespace ?? null, has_key: token !== undefined, in_use: inUse };
}

const columns: readonly Column<ShownProfile>[] = [
  ...fieldColumns("name", "url", "namespace"),
  { title: "KEY", value: (profile) => (profile.has_key ? "stored" : null) },
  { title: "IN USE", value: (profile) => (profile.in_use ? "yes" : null) },
];

export const login: CommandBody = {
  define: (target) =>
    withOutputForm(target.argument("<url>", "where the server is, as in https://carillon.example.com"))
      .option("--profile <name>", "the name to store it under", "default")
      .option("--namespace <name>", "the namespace that commands use there")
      .option("--no-key", "the server needs none: store its address alone"),
  notes: `
Prompts for an API key, or reads it from standard input, tries it, and stores it in a file that only its owner can read (mode 600). From then
on commands use that server; --profile, CARILLON_PROFILE, --url and CARILLON_URL choose another, CARILLON_TOKEN another key.`,
  examples: [
    "carillon login https://carillon.example.com",
    "carillon login https://carillon.example.com --profile production --namespace billing < key.txt",
    "carillon login http://127.0.0.1:8023 --profile local --no-key",
  ],
  async run(io, invocation) {
    const url = serverUrl(requiredArg(invocation, 0)).replace(/\/+$/, "");
    const name = textOption(invocation, "profile") ?? "default";
    if (!namePattern.test(name))
      throw usageError(`--profile: ${JSON.stringify(name)} is not letters, digits and . _ -.`);
    const before = readProfiles(io.env);
    const namespace = textOption(invocation, "namespace");
    const needsKey = invocation.options["key"] !== false;
    const token = needsKey ? await readSecret(io, `API key for ${url}: `) : "";
    if (needsKey && token === "") throw usageError("No key was given. For a server that needs none, give --no-key.");
    const profile: Profile = {
      url,
      ...(namespace !== undefined && { namespace }),
      ...(token !== "" && { token }),
    };
    const client = createClient({ ...profile, ...announcedBackoff(io) });
    const { version } = await client.version();
    await client.jobs.list({ page_size: 1 });
    const path = writeProfiles(io.env, { current: name, profiles: { ...before.profiles, [name]: profile } });
    await printThing(io, invocation, shownProfile(name, profile, true), () =>
      renderFields([
        ["profile", name],
        ["url", url],
        ["namespace", namespace],
        ["server", version],
      ]),
    );
    const isNew = before.profiles[name] === undefined;
    const back = before.current === null || before.current === name ? "" : ` && carillon profile use ${before.current}`;
    io.info(`carillon: stored in ${path}`);
    if (isNew) io.info(`carillon: in use; undo with: carillon profile delete ${name}${back}`);
    else io.info("carillon: in use; there is no undo: it replaced another profile of that name");
  },
};

/** A secret from standard input: typed without an echo on a terminal, else its first line. Empty if there is none. */
async function readSecret(io: Io, prompt: string): Promise<string> {
  if (io.terminal === null) return ((await readAll(io.stdin)).split("\n", 1)[0] ?? "").trim();
  io.stderr.write(prompt);
  try {
    return await typedLine(io.terminal);
  } finally {
    io.stderr.write("\n");
  }
}

function typedLine(terminal: Terminal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = "";
    const removeListener = terminal.onKey((keys) => {
      for (const key of keys) {
        if (key === "\r" || key === "\n") {
          removeListener();
          resolve(line.trim());
          return;
        }
        if (key === "\u0003" || key === "\u0004") {
          removeListener();
          reject(new CliError(ExitCode.cancelled, "Nothing was stored."));
          return;
        }
        line = key === "\u007f" || key === "\b" ? line.slice(0, -1) : line + key;
      }
    });
  });
}

export const profileCommands: Commands = {
  list: {
    summary: "list the stored servers",
    define: withOutputForm,
    notes: "Keys are never printed.",
    examples: ["carillon profile list"],
    async run(io, invocation) {
      const { current, profiles } = readProfiles(io.env);
      const chosen = io.env["CARILLON_PROFILE"] || current;
      const rows = Object.entries(profiles).map(([name, profile]) => shownProfile(name, profile, name === chosen));
      const page = async () => ({ rows, next: null });
      const form = outputForm(invocation);
      await printList(io, { form, limit: rows.length, columns, noun: "profiles", page });
      if (io.env["CARILLON_URL"]) io.info("carillon: CARILLON_URL is set and wins over the profile in use");
    },
  },
  use: {
    summary: "choose the server that commands use",
    changes: true,
    define: (target) =>
      withOutputForm(target.argument("[name]", "from now on")).option(
        "--none",
        "no profile: the server of this machine, unless a flag or a variable names another",
      ),
    examples: ["carillon profile use production", "carillon profile use --none"],
    async run(io, invocation) {
      const [name] = invocation.args;
      const isNone = flagOption(invocation, "none");
      if ((name === undefined) !== isNone) throw usageError("Give either the name of a profile or --none.");
      const stored = readProfiles(io.env);
      const profile = name === undefined ? null : profileNamed(stored, name);
      writeProfiles(io.env, { ...stored, current: name ?? null });
      const form = outputForm(invocation);
      const shown = name === undefined || profile === null ? null : shownProfile(name, profile, true);
      if (form !== "table") await io.out(renderJson(shown, form));
      const place = profile === null ? "the server of this machine" : profile.url;
      printUndo(io, invocation, `commands use ${place}`, `profile use ${stored.current ?? "--none"}`);
    },
  },
  delete: {
    summary: "delete a stored server and its key",
    changes: true,
    define: (target) => withOutputForm(target.argument("<name>", "as carillon profile list prints it")),
    notes: "The key is deleted from this machine and stays valid at the server.",
    examples: ["carillon profile delete production"],
    async run(io, invocation) {
      const name = requiredArg(invocation, 0);
      const { current, profiles } = readProfiles(io.env);
      const deleted = profileNamed({ current, profiles }, name);
      const { [name]: _, ...rest } = profiles;
      writeProfiles(io.env, { current: current === name ? null : current, profiles: rest });
      const form = outputForm(invocation);
      if (form !== "table") await io.out(renderJson(shownProfile(name, deleted, false), form));
      const { url, namespace, token } = deleted;
      const again = [
        `login ${shellWord(url)} --profile ${name}`,
        ...(namespace === undefined ? [] : [`--namespace ${namespace}`]),
        ...(token === undefined ? ["--no-key"] : []),
      ].join(" ");
      // A login also chooses the profile.
      const back = current === name ? "" : ` && carillon profile use ${current ?? "--none"}`;
      printUndo(io, invocation, "deleted", `${again}${back}`);
    },
  },
};
