// Generates docs/reference/errors.md from the catalogue in packages/core.
import { isProgram, publish } from "./publish.mjs";

/** The page. `core` is what packages/core exports, built or as sources. */
export function renderErrors({ errorAreas, errorCatalogue }) {
  return [
    "<!-- Made by scripts/generate/errors.mjs from the catalogue in packages/core. Do not edit. -->",
    "# Errors",
    "",
    "The answer to a failed call is a problem document (RFC 9457). Its `code` is one of the codes below and never changes its",
    "meaning; `detail` describes the fault of this call and how to correct it; `errors` lists each fault with a JSON pointer",
    "to it. Match on `code`, never on texts. `retryable` is true when the same call may succeed later.",
    ...Object.entries(errorAreas).flatMap(([area, codes]) => [
      "",
      `## ${area}`,
      ...codes.flatMap((code) => entry(code, errorCatalogue[code])),
    ]),
    "",
  ].join("\n");
}

function entry(code, { status, retryable, title }) {
  const again = retryable ? "the same call may succeed later" : "the same call will fail again";
  return ["", `### ${code}`, "", `${title} Status ${status}; ${again}.`];
}

if (isProgram(import.meta.url))
  publish(import.meta.url, "docs/reference/errors.md", renderErrors(await import("../../packages/core/dist/index.js")));
