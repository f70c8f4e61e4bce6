const widest = 120;
const usual = 80;

/** As wide as the terminal, but no wider than people like to read. */
export function helpWidth({ isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return isTTY ? Math.min(widest, columns || usual) : usual;
}

/** Breaks paragraphs anew at the width; what is indented is a list or an example and stays as it is. */
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
