/** Languages whose blocks are run or checked. Any other has a check of its own, or is a picture. */
export const languages = ["sh", "js", "ts", "sql", "json", "yaml"] as const;
export type Language = (typeof languages)[number];

/**
 * The directives in the HTML comments before a block:
 * `not run: why`, `only types: why`, `file: name`, `stays: the line that it prints when it is ready`, `prints: text`, `as: the kind of document`, and
 * `setup` or `then` with code that goes before or after it.
 */
export type Directives = Readonly<Partial<Record<DirectiveName, string>>>;
type DirectiveName = "not run" | "only types" | "file" | "stays" | "prints" | "as" | "setup" | "then";

/** A fenced block of code. */
export interface Block {
  readonly language: Language;
  readonly text: string;
  /** The line of its opening fence, from 1. */
  readonly line: number;
  readonly directives: Directives;
}

export interface ReadDocument {
  readonly blocks: readonly Block[];
  readonly findings: readonly string[];
}

const fence = /^```\s*([\w-]*)\s*$/;
const noteForm = /^(not run|only types|file|stays|prints|as|setup|then)(?::\s*|\n|$)([\s\S]*)$/;
const typedCommand = /^\s*(?:[A-Z_]+=\S+ )?(?:npm|npx|node|curl|carillon) /m;

/** The blocks of a document in their order, with the comments that stand right before each. */
export function readBlocks(path: string, markdown: string): ReadDocument {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  const findings: string[] = [];
  let directives: Partial<Record<DirectiveName, string>> = {};
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const opening = fence.exec(line);
    if (line.startsWith("<!--")) {
      const closing = lines.findIndex((one, index) => index >= at && one.includes("-->"));
      const end = closing === -1 ? lines.length : closing;
      const comment = lines.slice(at, end + 1).join("\n");
      const [, name, value = ""] = noteForm.exec(comment.replace(/^<!--\s*|\s*-->\s*$/g, "")) ?? [];
      if (name !== undefined) directives[name as DirectiveName] = value;
      at = end;
    } else if (opening !== null) {
      const closing = lines.findIndex((one, index) => index > at && one.trimEnd() === "```");
      const end = closing === -1 ? lines.length : closing;
      const block = { text: lines.slice(at + 1, end).join("\n"), line: at + 1, directives };
      const language = opening[1] ?? "";
      if (isLanguage(language)) blocks.push({ ...block, language });
      else if (typedCommand.test(block.text)) findings.push(`${path}:${at + 1}: a block with commands is marked sh`);
      directives = {};
      at = end;
    } else if (line.trim() !== "") directives = {};
  }
  findings.push(...blocks.flatMap((block) => withoutReason(path, block)), ...repeatedFiles(path, blocks));
  return { blocks, findings };
}

function isLanguage(word: string): word is Language {
  return (languages as readonly string[]).includes(word);
}

function withoutReason(path: string, { line, directives }: Block): string[] {
  const silent = (["not run", "only types"] as const).filter((name) => directives[name]?.trim() === "");
  return silent.map((name) => `${path}:${line}: "${name}" needs a reason`);
}

/** All files of a document are there from the start, so each has a name of its own. */
function repeatedFiles(path: string, blocks: readonly Block[]): string[] {
  const names = blocks.map(fileNameOf);
  return blocks.flatMap(({ line }, index) => {
    const name = names[index] ?? null;
    const isRepeated = name !== null && names.indexOf(name) < index;
    return isRepeated ? [`${path}:${line}: there is a file ${name} already`] : [];
  });
}

/** The name that a block's first line gives its file, as in `// tasks.mjs`. */
export function fileNameOf({ directives, text }: Block): string | null {
  return directives.file ?? /^(?:\/\/|#|--) ([\w.-]+\.(?:[cm]?[jt]s|json|sql|sh))\n/.exec(`${text}\n`)?.[1] ?? null;
}
