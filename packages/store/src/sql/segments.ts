/** A stretch of SQL text of one kind. The texts of all segments, joined, are the input. */
export interface Segment {
  readonly kind: "code" | "string" | "identifier" | "comment" | "dollar";
  readonly text: string;
}

/** The opening of anything that is not plain code, longest first where two begin alike. */
const opening = /'|"|--|\/\*|\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$/g;

/**
 * Cuts SQL into code, literals, quoted identifiers, comments and dollar-quoted bodies, so that a rewrite or a split
 * never acts inside a literal. An unclosed literal or comment runs to the end: the server reports it better than we can.
 */
export function segmentsOf(sql: string): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  let at = 0;
  while (at < sql.length) {
    opening.lastIndex = at;
    const found = opening.exec(sql);
    if (found === null) break;
    const [mark] = found;
    const kind = kindOf(mark);
    if (kind === "dollar" && /[A-Za-z0-9_$]/.test(sql.charAt(found.index - 1))) {
      at = found.index + 1; // a dollar sign inside an identifier opens nothing
      continue;
    }
    if (found.index > from) segments.push({ kind: "code", text: sql.slice(from, found.index) });
    at = endOf(sql, found.index, mark);
    segments.push({ kind, text: sql.slice(found.index, at) });
    from = at;
  }
  if (from < sql.length) segments.push({ kind: "code", text: sql.slice(from) });
  return segments;
}

function kindOf(mark: string): Segment["kind"] {
  if (mark === "'") return "string";
  if (mark === '"') return "identifier";
  return mark.startsWith("$") ? "dollar" : "comment";
}

/** The index just after the segment that opens at `start` with `mark`. */
function endOf(sql: string, start: number, mark: string): number {
  const inside = start + mark.length;
  if (mark === "--") return indexAfter(sql, "\n", inside);
  if (mark === "/*") return endOfBlockComment(sql, inside);
  if (mark.startsWith("$")) return indexAfter(sql, mark, inside);
  const escapes = mark === "'" && /(?<![A-Za-z0-9_$])[eE]$/.test(sql.slice(Math.max(0, start - 2), start));
  return endOfQuoted(sql, inside, mark, escapes);
}

function indexAfter(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from);
  return found === -1 ? sql.length : found + mark.length;
}

/** A doubled quote stays inside; a backslash escapes only in an E'' literal. */
function endOfQuoted(sql: string, from: number, quote: string, escapes: boolean): number {
  for (let at = from; at < sql.length; at++) {
    const char = sql.charAt(at);
    if (escapes && char === "\\") at++;
    else if (char === quote) {
      if (sql.charAt(at + 1) !== quote) return at + 1;
      at++;
    }
  }
  return sql.length;
}

/** Block comments nest in PostgreSQL. */
function endOfBlockComment(sql: string, from: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = from;
  let depth = 1;
  for (let found = edge.exec(sql); found !== null; found = edge.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  return sql.length;
}
