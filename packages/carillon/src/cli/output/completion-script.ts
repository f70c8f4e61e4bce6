import type { DescribedCommand } from "../command.js";

export const shells = ["bash", "zsh", "fish"] as const;

type Shell = (typeof shells)[number];

/** Completes nouns, verbs and flags, as the command line has them. */
export function completionScript(shell: Shell, commands: readonly DescribedCommand[]): string {
  if (shell === "fish") return fish(commands);
  return shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}` : bash(commands);
}

/** Verbs by noun; a command of one word has none. */
function verbsOf(commands: readonly DescribedCommand[]): ReadonlyMap<string, readonly string[]> {
  const verbs = new Map<string, string[]>();
  for (const { path } of commands) {
    const [first = "", verb] = path;
    verbs.set(first, [...(verbs.get(first) ?? []), ...(verb === undefined ? [] : [verb])]);
  }
  return verbs;
}

function bash(commands: readonly DescribedCommand[]): string {
  const words = verbsOf(commands);
  const verbCases = [...words]
    .filter(([, verbs]) => verbs.length > 0)
    .map(([noun, verbs]) => `      ${noun}) COMPREPLY=($(compgen -W "${verbs.join(" ")}" -- "$word")); return ;;`);
  const flagCases = commands.map(({ path, flags }) => {
    const pattern = path.length === 1 ? `"${path[0] ?? ""} "*` : `"${path.join(" ")}"`;
    return `    ${pattern}) COMPREPLY=($(compgen -W "${flags.join(" ")}" -- "$word")) ;;`;
  });
  return [
    "_carillon() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}"',
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${[...words.keys()].join(" ")}" -- "$word"))`,
    "    return",
    "  fi",
    '  if [ "$COMP_CWORD" -eq 2 ]; then',
    '    case "${COMP_WORDS[1]}" in',
    ...verbCases,
    "    esac",
    "  fi",
    '  case "$word" in -*) ;; *) return ;; esac',
    '  case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
    ...flagCases,
    "  esac",
    "}",
    "complete -o default -F _carillon carillon",
    "",
  ].join("\n");
}

function fish(commands: readonly DescribedCommand[]): string {
  const words = verbsOf(commands);
  const lines = ["complete -c carillon -f"];
  lines.push(`complete -c carillon -n __fish_use_subcommand -a "${[...words.keys()].join(" ")}"`);
  for (const [noun, verbs] of words) {
    if (verbs.length > 0)
      lines.push(`complete -c carillon -n "__fish_seen_subcommand_from ${noun}" -a "${verbs.join(" ")}"`);
  }
  for (const { path, flags } of commands) {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    for (const flag of flags) lines.push(`complete -c carillon -n "${seen}" -l ${flag.slice(2)}`);
  }
  return `${lines.join("\n")}\n`;
}
