import { Command, type Option } from "commander";
import type { DescribedCommand, DescribedFlag, Invocation } from "./command.js";
import { ExitCode, exitCodeWords } from "./exit-codes.js";
import { foldHelp, helpWidth } from "./help-text.js";
import type { Io } from "./io.js";
import { commands, groups, nouns } from "./manifest.js";
import type { CommandEntry } from "./manifest/entry.js";
import { loadYaml, outputForm } from "./output.js";
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
      writeOut: (text) => void io.out(foldHelp(text, helpWidth(process.stdout))),
      getOutHelpWidth: () => helpWidth(process.stdout),
      writeErr: (text) => io.info(text.trimEnd()),
    })
    .exitOverride()
    .showHelpAfterError("Flags stand after the command, as in carillon job list --json. Help: carillon --help")
    .addHelpText(
      "after",
      `\nStart with \`carillon dev\`. Help of a command: carillon <command> --help\n\nExit codes: ${exitCodes}`,
    );
  const entries = new Map<Command, CommandEntry>();
  for (const entry of inGroups) {
    const parent = entry.path.length === 1 ? program : nounCommand(program, entry.path[0]);
    const name = entry.path[entry.path.length - 1] ?? "";
    const command = parent.command(name).description(entry.summary);
    if (entry.alias !== undefined) command.alias(entry.alias);
    if (parent === program) command.helpGroup(headingOf(name));
    entries.set(command, entry);
  }
  const enter = async (_: Command, entered: Command): Promise<void> => {
    const entry = entries.get(entered);
    if (entry) await defineCommand(entered, entry, io, finish);
  };
  program.hook("preSubcommand", enter);
  for (const noun of program.commands) {
    noun.helpCommand(false).hook("preSubcommand", enter);
    noun.showHelpAfterError(`Help: carillon ${noun.name()} --help`);
  }
  return program;
}

function nounCommand(program: Command, noun: string): Command {
  const known = program.commands.find((command) => command.name() === noun);
  if (known) return known;
  return program
    .command(noun)
    .description(nouns[noun] ?? "")
    .helpGroup(headingOf(noun));
}

const headings = Object.entries(groups);
const headingOf = (word: string): string => headings.find(([, words]) => words.includes(word))?.[0] ?? "Others:";
const order = headings.flatMap(([, words]) => words);
/** As the help shows them: by group, and there as the group names them. */
const inGroups = commands.toSorted((one, other) => order.indexOf(one.path[0]) - order.indexOf(other.path[0]));

async function defineCommand(target: Command, entry: CommandEntry, io: Io, finish: Finish): Promise<void> {
  const { command } = await entry.load();
  target.showHelpAfterError(`Help: carillon ${entry.path.join(" ")} --help`);
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
    commands.map(async ({ path, summary, load }) => {
      const described = new Command();
      (await load()).command.define(described);
      const flags = described.options.flatMap((option) => (option.hidden ? [] : describedFlag(option)));
      const choices = described.registeredArguments[0]?.argChoices ?? [];
      return { path, summary, flags: [...flags, helpFlag], choices };
    }),
  );
}

const helpFlag: DescribedFlag = {
  long: "--help",
  short: "-h",
  summary: "show help",
  takesValue: false,
  choices: [],
};

function describedFlag({ long, short, description, required, optional, argChoices }: Option): DescribedFlag[] {
  if (!long) return [];
  return [
    {
      long,
      ...(short && { short }),
      summary: description,
      takesValue: required || optional,
      choices: argChoices ?? [],
    },
  ];
}

const argument = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** `carillon help job create` and `carillon job help create` are `carillon job create --help`; of what is not there, there is no help. */
export function helpAsFlag(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf("help");
  const asked = at === 0 || (at === 1 && argv[0] !== undefined && argv[0] in nouns);
  const asFlag = asked ? [...argv.slice(0, at), ...argv.slice(at + 1), "--help"] : argv;
  return isThere(asFlag) ? asFlag : asFlag.filter((word) => word !== "--help" && word !== "-h");
}

function isThere([first, second]: readonly string[]): boolean {
  if (first === undefined || first.startsWith("-")) return true;
  const verbs = commands.filter(({ path }) => path[0] === first);
  if (!(first in nouns) || second === undefined || second.startsWith("-")) return verbs.length > 0;
  return verbs.some(({ path, alias }) => path[1] === second || alias === second);
}
