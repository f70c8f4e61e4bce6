// Reads the titles in a test file: the first argument of it, test and describe, also after .each(…), .skipIf(…) and the like.

const callers = /(?<![\w.$])(?:it|test|describe)(?![\w$])/y;

/**
 * `title` is as written, with escapes and ${…}. `full` begins with the titles of the enclosing describe blocks.
 * @typedef {{ title: string, full: string }} TestTitle
 */

/**
 * In order. Calls in comments and strings are ignored, and so are tests that are skipped or marked as todo.
 * @param {string} source
 * @returns {TestTitle[]}
 */
export function testTitles(source) {
  const titles = [];
  const enclosing = [];
  let at = 0;
  while (at < source.length) {
    const skipped = endOfOpaque(source, at);
    callers.lastIndex = at;
    if (skipped !== at) at = skipped;
    else if (callers.test(source)) {
      const call = titleFrom(source, callers.lastIndex);
      while (enclosing.length > 0 && enclosing.at(-1).end <= at) enclosing.pop();
      if (call.isOff) call.end = endOfGroup(source, call.opening);
      else if (call.title !== null) {
        titles.push({ title: call.title, full: [...enclosing.map((outer) => outer.title), call.title].join(": ") });
        if (source.startsWith("describe", at))
          enclosing.push({ title: call.title, end: endOfGroup(source, call.opening) });
      }
      at = call.end;
    } else at += 1;
  }
  return titles;
}

/** Follows the chain `.each(…)`, `.skip`, `<T>` after the caller to the call whose first argument is a string. */
function titleFrom(source, from) {
  let at = from;
  let isOff = false;
  for (;;) {
    at += /^\s*/.exec(source.slice(at))[0].length;
    const member = /^\.\s*\w+/.exec(source.slice(at, at + 40));
    isOff ||= /^\.\s*(?:skip|todo)$/.test(member?.[0] ?? "");
    if (member) at += member[0].length;
    else if (source[at] === "<") at = source.indexOf(">", at) + 1 || source.length;
    else if (source[at] === "`") at = endOfOpaque(source, at);
    else if (source[at] === "(") {
      const argument = at + 1 + /^\s*/.exec(source.slice(at + 1))[0].length;
      if (/["'`]/.test(source[argument] ?? "")) {
        const end = endOfOpaque(source, argument);
        return { title: source.slice(argument + 1, end - 1), end, opening: at, isOff };
      }
      const end = endOfGroup(source, at);
      if (!/^\s*[(`]/.test(source.slice(end, end + 40))) return { title: null, end: at + 1 };
      at = end;
    } else return { title: null, end: at };
  }
}

/** The index after the closing parenthesis of the group that opens at `at`. */
function endOfGroup(source, at) {
  let depth = 0;
  for (let i = at; i < source.length; i += 1) {
    const skipped = endOfOpaque(source, i);
    if (skipped !== i) i = skipped - 1;
    else if (source[i] === "(") depth += 1;
    else if (source[i] === ")" && --depth === 0) return i + 1;
  }
  return source.length;
}

/** The index after the comment, string, template or regular expression that begins at `at`; `at` itself when none does. */
function endOfOpaque(source, at) {
  const two = source.slice(at, at + 2);
  if (two === "//") return indexAfter(source, "\n", at);
  if (two === "/*") return indexAfter(source, "*/", at + 2);
  const char = source[at];
  if (char === '"' || char === "'" || char === "`") return endOfQuoted(source, at, char);
  const beforeValue = /(?:^|[=(,:;[!&|?{}>]|\breturn)\s*$/.test(source.slice(Math.max(0, at - 20), at));
  if (char === "/" && beforeValue)
    return at + (/^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/\w*/.exec(source.slice(at))?.[0].length ?? 0);
  return at;
}

function endOfQuoted(source, at, quote) {
  for (let i = at + 1; i < source.length; i += 1) {
    if (source[i] === "\\") i += 1;
    else if (source[i] === quote) return i + 1;
    else if (quote === "`" && source.startsWith("${", i)) i = endOfHole(source, i + 2) - 1;
  }
  return source.length;
}

/** The index after the `}` that closes a template's ${ … }. */
function endOfHole(source, at) {
  let depth = 1;
  for (let i = at; i < source.length; i += 1) {
    const skipped = endOfOpaque(source, i);
    if (skipped !== i) i = skipped - 1;
    else if (source[i] === "{") depth += 1;
    else if (source[i] === "}" && --depth === 0) return i + 1;
  }
  return source.length;
}

function indexAfter(source, mark, from) {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}
