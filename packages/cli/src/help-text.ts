const maxWidth = 120;
const usual = 80;

/** The terminal's width, up to a readable maximum. */
export function helpWidth({ isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number }): number {
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
  const [, before = "", words = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(paragraph) ?? [];
  const lines: string[] = [];
  let line = "";
  for (const word of words.split(/\s+/)) {
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
