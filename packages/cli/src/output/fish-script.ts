import type { DescribedCommand } from "../command.js";

/** `__carillon_at job create`: these words and no more were typed; `__carillon_in`: these and perhaps more. */
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

export function fishScript(commands: readonly DescribedCommand[]): string {
  const nouns = new Set<string>();
  const lines: string[] = [];
  for (const { path, summary, flags, choices } of commands) {
    const [first = "", verb] = path;
    if (verb === undefined) lines.push(offer("__carillon_at", `-f -a ${first} -d ${quoted(summary)}`));
    else {
      if (!nouns.has(first)) lines.push(offer("__carillon_at", `-f -a ${first}`));
      nouns.add(first);
      lines.push(offer(`__carillon_at ${first}`, `-f -a ${verb} -d ${quoted(summary)}`));
    }
    const here = path.join(" ");
    if (choices.length > 0) lines.push(offer(`__carillon_at ${here}`, `-f -a ${quoted(choices.join(" "))}`));
    for (const flag of flags) {
      const short = flag.short === undefined ? "" : `-s ${flag.short.slice(1)} `;
      const values =
        flag.choices.length > 0 ? ` -x -a ${quoted(flag.choices.join(" "))}` : flag.takesValue ? " -r" : "";
      lines.push(
        offer(`__carillon_in ${here}`, `${short}-l ${flag.long.slice(2)}${values} -d ${quoted(flag.summary)}`),
      );
    }
  }
  return `${head}${lines.join("\n")}\n`;
}

const offer = (condition: string, what: string): string => `complete -c carillon -n ${quoted(condition)} ${what}`;

/** Fish keeps everything between single quotes as it is, but for a backslash and a quote. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
