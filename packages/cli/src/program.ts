import { Command, type Option } from "commander";
import type { CommandBody, Invocation } from "./command.js";
import { ExitCode, exitCodeMeanings } from "./exit-codes.js";
import type { Io } from "./io.js";
import { aliases, bodyOf, groups, isNoun, type Noun, words } from "./nouns.js";
import { loadYaml, outputForm } from "./output.js";
import { packageVersion } from "./package-version.js";

const exitCodes = Object.entries(exitCodeMeanings)
  .map(([name, meaning]) => `${ExitCode[name as keyof typeof ExitCode]} ${meaning}`)
  .join("; ");

/** Receives the exit code of the command that ran. */
export type Finish = (code: ExitCode) => void;

/** The command tree. The verbs of a noun, and the flags of a command, are added when commander enters it. */
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
  for (const [heading, members] of Object.entries(groups))
    for (const [name, { summary }] of Object.entries(members))
      program.command(name).description(summary).helpGroup(heading);
  program.hook("preSubcommand", async (_, entered) => {
    const word = words[entered.name()];
    if (isNoun(word)) await addVerbs(entered, word, io, finish);
    else if (word !== undefined) defineCommand(entered, await word.command(), io, finish);
  });
  return program;
}

async function addVerbs(target: Command, noun: Noun, io: Io, finish: Finish): Promise<void> {
  const commands = await noun.commands();
  target.helpCommand(false).showHelpAfterError(`Help: carillon ${target.name()} --help`);
  for (const [verb, { summary }] of Object.entries(commands)) target.command(verb).description(summary);
  for (const [alias, verb] of Object.entries(aliases[target.name()] ?? {}))
    target.commands.find((command) => command.name() === verb)?.alias(alias);
  target.hook("preSubcommand", async (_, entered) => {
    const spec = commands[entered.name()];
    if (spec !== undefined) defineCommand(entered, await bodyOf(spec), io, finish);
  });
}

function defineCommand(target: Command, body: CommandBody, io: Io, finish: Finish): void {
  const path = [target.parent?.parent ? target.parent.name() : "", target.name()].join(" ").trim();
  target.showHelpAfterError(`Help: carillon ${path} --help`);
  body.define?.(target);
  target.addHelpText("after", helpAfterFlags(body));
  // Commander would report a missing option before one that is unknown, and a typing mistake is both.
  const required = target.options.filter((option) => option.mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  target.action(async () => {
    refuseMissing(target, required);
    const invocation: Invocation = { args: target.processedArgs.flat().map(argument), options: target.opts() };
    if (outputForm(invocation) === "yaml") await loadYaml();
    finish((await body.run(io, invocation)) ?? ExitCode.ok);
  });
}

function helpAfterFlags({ notes, examples = [] }: CommandBody): string {
  const heading = examples.length === 1 ? "Example:" : "Examples:";
  const lines = examples.length === 0 ? [] : [[heading, ...examples.map((line) => `  $ ${line}`)].join("\n")];
  return [...(notes === undefined ? [] : [notes.trim()]), ...lines].map((part) => `\n${part}`).join("\n");
}

function refuseMissing(target: Command, required: readonly Option[]): void {
  const missing = required.find((option) => target.getOptionValue(option.attributeName()) === undefined);
  if (missing !== undefined) target.error(`error: required option '${missing.flags}' not specified`);
}

const argument = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** `carillon help job create` and `carillon job help create` are `carillon job create --help`. An unknown command has no help. */
export async function helpAsFlag(argv: readonly string[]): Promise<readonly string[]> {
  const at = argv.indexOf("help");
  const isHelp = at === 0 || (at === 1 && isNoun(words[argv[0] ?? ""]));
  const asFlag = isHelp ? [...argv.slice(0, at), ...argv.slice(at + 1), "--help"] : argv;
  return (await isKnown(asFlag)) ? asFlag : asFlag.filter((word) => word !== "--help" && word !== "-h");
}

async function isKnown([first, second]: readonly string[]): Promise<boolean> {
  if (first === undefined || first.startsWith("-")) return true;
  const word = Object.hasOwn(words, first) ? words[first] : undefined;
  if (!isNoun(word) || second === undefined || second.startsWith("-")) return word !== undefined;
  return second in (await word.commands()) || second in (aliases[first] ?? {});
}

const maxWidth = 120;
const usual = 80;

/** The terminal's width, up to a readable maximum. */
function helpWidth({ isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return isTTY ? Math.min(maxWidth, columns || usual) : usual;
}

/** Wraps paragraphs at the width; indented lines are lists or examples and stay as they are. */
export function foldHelp(text: string, width: number): string {
  return text
    .split("\n\n")
    .map((paragraph) => (/^\s/m.test(paragraph.trim()) ? paragraph : folded(paragraph, width)))
    .join("\n\n");
}

function folded(paragraph: string, width: number): string {
  const [, before = "", text = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(paragraph) ?? [];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return `${before}${[...lines, line].join("\n")}${after}`;
}

/** Printed by `carillon` without arguments: the first steps, and the most common commands. */
export function welcome(version: string): string {
  return `Carillon ${version}, a job scheduler on PostgreSQL.

Begin:
  carillon dev                     everything in one process, with a database of its own
  carillon dev ./tasks.js          and with tasks of your own, loaded again when they change
  carillon init my-jobs            a project with a task and a job

With a server that runs:
  carillon task run echo --payload '{"hello":"world"}' --wait
  carillon job create --task echo --every 15m --key ping
  carillon job list                what is scheduled, and when it runs next
  carillon run list                what ran, and how it ended
  carillon why @ping               why a job or a run does not run
  carillon top                     what goes on right now

All commands: carillon --help. One of them: carillon <command> --help
`;
}
