import type { RunLogLine } from "@carillon/contract";

/** One line for people: when, how grave, what, and what was given beside it. */
export function renderLogLine({ at, level, message, fields }: RunLogLine): string {
  const beside = fields === null ? "" : ` ${JSON.stringify(fields)}`;
  return `${at} ${level.padEnd(5)} ${shown(message)}${beside}\n`;
}

/** What a handler wrote must not move the cursor of whoever reads it. */
function shown(message: string): string {
  // eslint-disable-next-line no-control-regex
  return message.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd").replaceAll("\n", "\n    ");
}
