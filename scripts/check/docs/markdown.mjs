// Reads the parts of Markdown that the checks need: fenced blocks, headings with their anchors, links, code spans.

/**
 * A fenced block with its language; `line` is the line of its opening fence, from 1.
 * @typedef {{ language: string, text: string, line: number }} Fence
 */

const fencePattern = /^ {0,3}(`{3,}|~{3,})\s*([\w-]*)/;

/**
 * The text with its fenced blocks replaced by empty lines, and the blocks.
 * @param {string} text
 * @returns {{ prose: string, fences: Fence[] }}
 */
export function splitFences(text) {
  const prose = [];
  const fences = [];
  let open = null;
  for (const [index, line] of text.split("\n").entries()) {
    const [, mark = "", language = ""] = fencePattern.exec(line) ?? [];
    if (open !== null) {
      const closes = mark.startsWith(open.mark) && line.trim() === mark;
      if (closes) fences.push({ language: open.language, text: open.lines.join("\n"), line: open.line });
      else open.lines.push(line);
      if (closes) open = null;
      prose.push("");
    } else if (mark !== "") {
      open = { mark, language, lines: [], line: index + 1 };
      prose.push("");
    } else prose.push(line);
  }
  if (open !== null) fences.push({ language: open.language, text: open.lines.join("\n"), line: open.line });
  return { prose: prose.join("\n"), fences };
}

/**
 * The code spans of a text, with their lines.
 * @param {string} text
 * @returns {{ text: string, line: number }[]}
 */
export function codeSpans(text) {
  return splitFences(text)
    .prose.split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(/(`+)(.+?)\1/g)].map((match) => ({ text: match[2].trim(), line: index + 1 })),
    );
}

/**
 * The anchor that GitHub gives a heading.
 * @param {string} heading
 */
export function anchorOf(heading) {
  const words = heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .trim()
    .toLowerCase();
  return words.replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "").replaceAll(" ", "-");
}

/**
 * Every anchor of a document: its headings (a repeated one gets a number) and explicit ids.
 * @param {string} text
 * @returns {Set<string>}
 */
export function anchorsOf(text) {
  const { prose } = splitFences(text);
  const anchors = new Set();
  const seen = new Map();
  for (const [, heading] of prose.matchAll(/^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$/gm)) {
    const anchor = anchorOf(heading);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  for (const [, id] of prose.matchAll(/<\w+[^>]*\s(?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/**
 * The targets of links and images: inline, by reference, and in HTML. Code is ignored.
 * @param {string} text
 * @returns {{ target: string, line: number }[]}
 */
export function linksOf(text) {
  const found = [];
  for (const [index, raw] of splitFences(text).prose.split("\n").entries()) {
    const line = raw.replace(/(`+).+?\1/g, "``");
    const patterns = [
      /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g,
      /^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/g,
      /\s(?:src|href)="([^"]+)"/g,
    ];
    for (const pattern of patterns) {
      for (const [, target] of line.matchAll(pattern)) found.push({ target, line: index + 1 });
    }
  }
  return found;
}
