import { segmentsOf } from "./segments.js";

/** The statements of a text, cut at semicolons that stand in code; comments alone are no statement. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let text = "";
  let hasCode = false;
  const close = (): void => {
    if (hasCode) statements.push(text.trim());
    text = "";
    hasCode = false;
  };
  for (const segment of segmentsOf(sql)) {
    if (segment.kind !== "code") {
      text += segment.text;
      hasCode ||= segment.kind !== "comment";
      continue;
    }
    const parts = segment.text.split(";");
    parts.forEach((part, index) => {
      text += part;
      hasCode ||= part.trim() !== "";
      if (index < parts.length - 1) close();
    });
  }
  close();
  return statements;
}
