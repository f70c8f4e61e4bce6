import { Command, type Option } from "commander";
import type { DescribedCommand, Invocation } from "./command.js";
import { ExitCode, exitCodeWords } from "./exit-codes.js";
import type { Io } from "./io.js";
import { commands, nouns } from "./manifest.js";
import type { CommandEntry } from "./manifest/entry.js";
import { outputForm } from "./output/form.js";
import { loadYaml } from "./output/yaml.js";
import { packageVersion } from "./package-version.js";

const exitCodes = Object.entries(exitCodeWords)
  .map(([name, words]) => `${ExitCode[name as keyof typeof ExitCode]} ${words}`)
  .join("; ");

/** Receives the exit code of the command that ran. */
export type Finish = (code: ExitCode) => void;

/** The command tree. Options and action of a command are added when commander is about to enter it. */
export function buildProgram(io: Io, finish: Finish): Command {
  const program = new Command("carillon")
    .description("Carillon, a distributed job scheduler on PostgreSQL")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .version(packageVersion(), "-V, --version", "show the version")
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "carillon: ")),
      writeOut: (text) => void io.out(text),
      writeErr: (text) => io.talk(text.trimEnd()),
    })
    .exitOverride()
    .addHelpText(
      "after",
      `\nStart with \`carillon dev\`. Help of a command: carillon <command> --help\n\nExit codes: ${exitCodes}`,
    );
  const entries = new Map<Command, CommandEntry>();
  for (const entry of commands) {
    const parent = entry.path.length === 1 ? program : nounCommand(program, entry.path[0]);
    const name = entry.path[entry.path.length - 1] ?? "";
    entries.set(parent.command(name).description(entry.summary), entry);
  }
  const enter = async (_: Command, entered: Command): Promise<void> => {
    const entry = entries.get(entered);
    if (entry) await defineCommand(entered, entry, io, finish);
  };
  program.hook("preSubcommand", enter);
  for (const noun of program.commands) noun.hook("preSubcommand", enter);
  return program;
}

function nounCommand(program: Command, noun: string): Command {
  const known = program.commands.find((command) => command.name() === noun);
  if (known) return known;
  return program.command(noun).description(nouns[noun] ?? "");
}

async function defineCommand(target: Command, entry: CommandEntry, io: Io, finish: Finish): Promise<void> {
  const { command } = await entry.load();
  command.define(target);
  // Commander would tell of a missing option before one that is unknown, and a slip of the pen is both.
  const required = target.options.filter((option) => option.mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  target.action(async () => {
    refuseMissing(target, required);
    const invocation: Invocation = {
      args: target.processedArgs.flat().map(argument),
      options: target.opts(),
      describeAll,
    };
    if (outputForm(invocation) === "yaml") await loadYaml();
    finish((await command.run(io, invocation)) ?? ExitCode.ok);
  });
}

function refuseMissing(target: Command, required: readonly Option[]): void {
  const missing = required.find((option) => target.getOptionValue(option.attributeName()) === undefined);
  if (missing !== undefined) target.error(`error: required option '${missing.flags}' not specified`);
}

function describeAll(): Promise<DescribedCommand[]> {
  return Promise.all(
    commands.map(async ({ path, load }) => {
      const described = new Command();
      (await load()).command.define(described);
      const flags = described.options.flatMap(({ long }) => long ?? []);
      return { path, flags: [...flags, "--help"] };
    }),
  );
}

const argument = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** `carillon help job create` is `carillon job create --help`. */
export const helpAsFlag = (argv: readonly string[]): readonly string[] =>
  argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
