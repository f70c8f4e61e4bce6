/** One statement as it stands in its file: the header's lines by key, and the text without them. */
export interface StatementSource {
  readonly name: string;
  readonly header: ReadonlyMap<string, string>;
  readonly text: string;
}

const nameLine = /^-- name:\s*(\S+)\s*$/;
const headerLine = /^-- ([a-z]+):\s*(.*)$/;
const commentLine = /^--\s?(.*)$/;

/**
 * Reads a file of named statements. Each begins with `-- name: entity.verb`; the comment lines straight below are its
 * header (`-- purpose: …`, `-- params: …`, `-- fence: …`; a line without a key continues the one above).
 */
export function parseStatementFile(file: string, content: string): StatementSource[] {
  const sources: StatementSource[] = [];
  let lines: string[] | undefined;
  let name = "";
  const close = (): void => {
    if (lines !== undefined) sources.push(toSource(name, lines));
  };
  for (const line of content.split(/\r?\n/)) {
    const found = nameLine.exec(line)?.[1];
    if (found !== undefined) {
      close();
      name = found;
      lines = [];
    } else if (lines !== undefined) lines.push(line);
    else if (line.trim() !== "" && !line.startsWith("--")) {
      throw new Error(`${file}: SQL before the first "-- name:" line: ${line.trim()}`);
    }
  }
  close();
  return sources;
}

function toSource(name: string, lines: readonly string[]): StatementSource {
  const header = new Map<string, string>();
  let key: string | undefined;
  let at = 0;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, comment] = commentLine.exec(line) ?? [];
    if (comment === undefined) break;
    const [, newKey, value] = headerLine.exec(line) ?? [];
    if (newKey !== undefined && value !== undefined) header.set((key = newKey), value.trim());
    else if (key !== undefined) header.set(key, `${header.get(key) ?? ""} ${comment.trim()}`.trim());
  }
  const text = lines.slice(at).join("\n").trim().replace(/;$/, "").trimEnd();
  return { name, header, text };
}
