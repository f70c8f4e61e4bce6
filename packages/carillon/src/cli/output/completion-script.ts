export const shells = ["bash", "zsh", "fish"] as const;

type Shell = (typeof shells)[number];

/** Verbs by noun; a command of one word has none. */
export type CommandTree = ReadonlyMap<string, readonly string[]>;

/** Completes nouns and verbs, as the command line has them. */
export function completionScript(shell: Shell, words: CommandTree): string {
  if (shell === "fish") return fish(words);
  return shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}` : bash(words);
}

function bash(words: CommandTree): string {
  const cases = [...words]
    .filter(([, verbs]) => verbs.length > 0)
    .map(([noun, verbs]) => `      ${noun}) COMPREPLY=($(compgen -W "${verbs.join(" ")}" -- "$word")) ;;`);
  return [
    "_carillon() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}"',
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${[...words.keys()].join(" ")}" -- "$word"))`,
    '  elif [ "$COMP_CWORD" -eq 2 ]; then',
    '    case "${COMP_WORDS[1]}" in',
    ...cases,
    "    esac",
    "  fi",
    "}",
    "complete -o default -F _carillon carillon",
    "",
  ].join("\n");
}

function fish(words: CommandTree): string {
  const lines = ["complete -c carillon -f"];
  lines.push(`complete -c carillon -n __fish_use_subcommand -a "${[...words.keys()].join(" ")}"`);
  for (const [noun, verbs] of words) {
    if (verbs.length > 0)
      lines.push(`complete -c carillon -n "__fish_seen_subcommand_from ${noun}" -a "${verbs.join(" ")}"`);
  }
  return `${lines.join("\n")}\n`;
}
