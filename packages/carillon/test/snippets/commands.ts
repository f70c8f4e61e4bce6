/** One command of a sh block, with all its lines. */
export interface Command {
  readonly text: string;
  /** Its first line within the block, from 0. */
  readonly line: number;
  /** What its comment says: the status of an answer, or an exit code. */
  readonly expected: { readonly status: number } | { readonly code: number } | null;
}

const expectation = /\s+# (?:exit )?(\d{1,3})$/;

/** Commands go on over a line that ends with a backslash, over open quotes and over here-documents. */
export function commandsOf(block: string): Command[] {
  const commands: Command[] = [];
  let open: { lines: string[]; line: number } | null = null;
  for (const [line, content] of block.split("\n").entries()) {
    if (open === null && /^\s*(?:#.*)?$/.test(content)) continue;
    open ??= { lines: [], line };
    open.lines.push(content);
    const text = open.lines.join("\n");
    if (!isWhole(text)) continue;
    commands.push({ text, line: open.line, expected: expectedOf(text) });
    open = null;
  }
  if (open !== null) commands.push({ text: open.lines.join("\n"), line: open.line, expected: null });
  return commands;
}

function expectedOf(text: string): Command["expected"] {
  const found = expectation.exec(text);
  if (found === null) return null;
  return found[0].includes("exit") ? { code: Number(found[1]) } : { status: Number(found[1]) };
}

function isWhole(text: string): boolean {
  const mark = /<<-?\s*(['"]?)(\w+)\1/.exec(text)?.[2];
  if (mark !== undefined) return text.split("\n").slice(1).includes(mark);
  return !text.endsWith("\\") && !hasOpenQuote(text);
}

function hasOpenQuote(text: string): boolean {
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (quote === "'") quote = char === "'" ? null : quote;
    else if (char === "\\") at += 1;
    else if (quote === '"') quote = char === '"' ? null : quote;
    else if (char === "#" && /(?:^|\s)$/.test(text.slice(0, at))) at = (text.indexOf("\n", at) + 1 || text.length) - 1;
    else if (char === "'" || char === '"') quote = char;
  }
  return quote !== null;
}
