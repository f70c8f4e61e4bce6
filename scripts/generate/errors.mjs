// Writes docs/reference/errors.md from the catalogue in packages/core. `--check` compares instead of writing.
import { publish } from "./publish.mjs";

/** The page. `core` is what packages/core exports, built or as sources. */
export function renderErrors({ errorAreas, errorCatalogue }) {
  return [
    "<!-- Made by scripts/generate/errors.mjs from the catalogue in packages/core. Do not edit. -->",
    "# Errors",
    "",
    "Every failed call is answered with a problem document (RFC 9457). Its `code` is one of those below and never changes its",
    "meaning; `detail` says what is wrong with this call and what would be right; `errors` lists each fault with a JSON pointer",
    "to it. Match on `code`, never on texts. Where the same call may work later, `retryable` is true.",
    ...Object.entries(errorAreas).flatMap(([area, codes]) => [
      "",
      `## ${area}`,
      ...codes.flatMap((code) => entry(code, errorCatalogue[code])),
    ]),
    "",
  ].join("\n");
}

function entry(code, { status, retryable, title }) {
  const again = retryable ? "the same call may work later" : "the same call will fail again";
  return ["", `### ${code}`, "", `${title} Status ${status}; ${again}.`];
}

await publish(import.meta.url, "docs/reference/errors.md", renderErrors);
