/** One statement as it stands in its file: the header's lines by key, and the text without them. */
export interface StatementSource {
  readonly name: string;
  readonly header: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The contents of a file. A part is no statement: statements include its text. */
export interface StatementFile {
  readonly statements: readonly StatementSource[];
  readonly parts: readonly StatementSource[];
}

const firstLine = /^-- (name|part):\s*(\S+)\s*$/;
const headerLine = /^-- ([a-z]+):\s*(.*)$/;
const commentLine = /^--(?!\+)\s?(.*)$/;

/**
 * Reads a file of named statements. Each begins with `-- name: entity.verb`; the comment lines straight below are its
 * header (`-- purpose: …`, `-- params: …`, `-- fence: …`; a line without a key continues the one above). A part begins with
 * `-- part: entity.what` and has a header too.
 */
export function parseStatementFile(file: string, content: string): StatementFile {
  const found = { name: [] as StatementSource[], part: [] as StatementSource[] };
  let open: { kind: "name" | "part"; name: string; lines: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined) found[open.kind].push(toSource(open.name, open.lines));
  };
  for (const line of content.split(/\r?\n/)) {
    const [, kind, name] = firstLine.exec(line) ?? [];
    if (name !== undefined) {
      close();
      open = { kind: kind === "part" ? "part" : "name", name, lines: [] };
    } else if (open !== undefined) open.lines.push(line);
    else if (line.trim() !== "" && !line.startsWith("--")) {
      throw new Error(`${file}: SQL before the first "-- name:" line: ${line.trim()}`);
    }
  }
  close();
  return { statements: found.name, parts: found.part };
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

const place = /^([ \t]*)--\+[ \t]*(\S+)[ \t]*$/gm;

/** A statement with each line `--+ entity.what` replaced by the part of that name. Parts have no parts in them. */
export function putPartsIn(source: StatementSource, parts: ReadonlyMap<string, string>): StatementSource {
  const text = source.text.replaceAll(place, (_line, indent: string, name: string) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`the statement ${source.name} has the part ${name}, which no file has`);
    return part
      .split("\n")
      .map((line) => indent + line)
      .join("\n");
  });
  return { ...source, text };
}
