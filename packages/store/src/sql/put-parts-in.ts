import type { StatementSource } from "./statement-file.js";

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
