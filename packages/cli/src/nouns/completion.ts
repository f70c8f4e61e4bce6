import { Argument } from "commander";
import { type CommandBody, type DescribedCommand, requiredArg } from "../command.js";

/** `describeAll` loads every module of the command line, and so is passed in. */
export const completionOf = (describeAll: () => Promise<readonly DescribedCommand[]>): CommandBody => ({
  define: (target) => target.addArgument(new Argument("<shell>", "the shell that it is for").choices(shells)),
  notes: `
Completes nouns, verbs, flags and their choices. Load it from the start file of the shell, or store it where the shell reads completions.`,
  examples: [
    "source <(carillon completion bash)",
    "carillon completion bash > /etc/bash_completion.d/carillon",
    "echo 'source <(carillon completion zsh)' >> ~/.zshrc",
    "carillon completion fish > ~/.config/fish/completions/carillon.fish",
  ],
  async run(io, invocation) {
    const shell = shells.find((one) => one === requiredArg(invocation, 0)) ?? "bash";
    await io.out(completionScript(shell, await describeAll()));
  },
});

const shells = ["bash", "zsh", "fish"] as const;

type Shell = (typeof shells)[number];

/** Completes nouns, verbs, flags and choices, as the command line has them. */
function completionScript(shell: Shell, commands: readonly DescribedCommand[]): string {
  if (shell === "fish") return fishScript(commands);
  return shell === "zsh" ? `${zshHead}${bash(commands)}` : bash(commands);
}

/** Zsh runs the bash script, after it has loaded its own completion and its bash emulation. */
const zshHead = `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
`;

/** Verbs by noun; a command of one word has none. */
function verbsOf(commands: readonly DescribedCommand[]): ReadonlyMap<string, readonly string[]> {
  const verbs = new Map<string, string[]>();
  for (const { path } of commands) {
    const [first = "", verb] = path;
    verbs.set(first, [...(verbs.get(first) ?? []), ...(verb === undefined ? [] : [verb])]);
  }
  return verbs;
}

const bashReply = (words: readonly string[]): string => `COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$word"))`;

function bash(commands: readonly DescribedCommand[]): string {
  const words = verbsOf(commands);
  const verbCases = [...words]
    .filter(([, verbs]) => verbs.length > 0)
    .map(([noun, verbs]) => `      ${noun}) ${bashReply(verbs)}; return ;;`);
  const flagCases = commands.map(({ path, flags }) => {
    const names = flags.map(({ long }) => long);
    return `    "${path.join(" ")}") ${bashReply(names)} ;;`;
  });
  return [
    "_carillon() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
    '  local noun="${COMP_WORDS[1]}" verb="${COMP_WORDS[2]}" place="$COMP_CWORD"',
    "  COMPREPLY=()",
    '  if [ "$noun" = help ] && [ "$place" -gt 1 ]; then noun="$verb" verb="${COMP_WORDS[3]}" place=$((place - 1)); fi',
    '  if [ "$place" -eq 1 ]; then',
    `    ${bashReply([...words.keys(), "help"])}`,
    "    return",
    "  fi",
    '  local path="$noun $verb" first=3',
    '  case "$noun" in',
    `    ${[...words].flatMap(([noun, verbs]) => (verbs.length === 0 ? [noun] : [])).join("|")}) path="$noun" first=2 ;;`,
    "  esac",
    '  if [ "$place" -eq 2 ]; then',
    '    case "$noun" in',
    ...verbCases,
    "    esac",
    "  fi",
    '  case "$path $before" in',
    ...choiceCases(commands),
    "  esac",
    '  if [ "$place" -eq "$first" ]; then',
    '    case "$path" in',
    ...commands.flatMap(({ path, choices }) =>
      choices.length === 0 ? [] : [`      "${path.join(" ")}") ${bashReply(choices)} ;;`],
    ),
    "    esac",
    "  fi",
    '  case "$word" in -*) ;; *) return ;; esac',
    '  case "$path" in',
    ...flagCases,
    "  esac",
    "}",
    "complete -o default -F _carillon carillon",
    "",
  ].join("\n");
}

/** Values of flags; flags with the same values share a case. */
function choiceCases(commands: readonly DescribedCommand[]): string[] {
  const places = new Map<string, string[]>();
  for (const { path, flags } of commands)
    for (const { long, short, choices } of flags) {
      if (choices.length === 0) continue;
      const names = [long, ...(short === undefined ? [] : [short])];
      const patterns = names.map((name) => `"${path.join(" ")} ${name}"`);
      const offered = bashReply(choices);
      places.set(offered, [...(places.get(offered) ?? []), ...patterns]);
    }
  return [...places].map(([offered, patterns]) => `    ${patterns.join("|")}) ${offered}; return ;;`);
}

/** `__carillon_at job create`: exactly these words were typed; `__carillon_in`: these, and possibly more. */
const head = `function __carillon_typed
    set -l words (commandline -opc)
    set -e words[1]
    test "$words[1]" = help; and set -e words[1]
    for word in $words
        echo -- $word
    end
end
function __carillon_at
    test "$(__carillon_typed | string join ' ')" = "$(string join ' ' -- $argv)"
end
function __carillon_in
    set -l words (__carillon_typed)
    set -l count (count $argv)
    test (count $words) -ge $count; and test "$(string join ' ' -- $words[1..$count])" = "$(string join ' ' -- $argv)"
end
`;

function fishScript(commands: readonly DescribedCommand[]): string {
  const nouns = new Set<string>();
  const lines: string[] = [];
  for (const { path, summary, flags, choices } of commands) {
    const [first = "", verb] = path;
    if (verb === undefined) lines.push(fishLine("__carillon_at", `-f -a ${first} -d ${quoted(summary)}`));
    else {
      if (!nouns.has(first)) lines.push(fishLine("__carillon_at", `-f -a ${first}`));
      nouns.add(first);
      lines.push(fishLine(`__carillon_at ${first}`, `-f -a ${verb} -d ${quoted(summary)}`));
    }
    const here = path.join(" ");
    if (choices.length > 0) lines.push(fishLine(`__carillon_at ${here}`, `-f -a ${quoted(choices.join(" "))}`));
    for (const flag of flags) {
      const short = flag.short === undefined ? "" : `-s ${flag.short.slice(1)} `;
      const values =
        flag.choices.length > 0 ? ` -x -a ${quoted(flag.choices.join(" "))}` : flag.takesValue ? " -r" : "";
      lines.push(
        fishLine(`__carillon_in ${here}`, `${short}-l ${flag.long.slice(2)}${values} -d ${quoted(flag.summary)}`),
      );
    }
  }
  return `${head}${lines.join("\n")}\n`;
}

const fishLine = (condition: string, what: string): string => `complete -c carillon -n ${quoted(condition)} ${what}`;

/** Fish changes nothing between single quotes except a backslash and a quote. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
