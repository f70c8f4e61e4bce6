// Generates packages/store/src/sql/generated/statement-params.ts: the names of each statement's parameters, against which TypeScript checks the calls.
import { numberParameters, readStatementSources } from "../../packages/store/dist/sql/statements.js";
import { publish } from "./publish.mjs";

const camelCase = (name) => name.replace(/_([a-z0-9])/g, (_match, letter) => letter.toUpperCase());

const lines = readStatementSources()
  .map(({ name, text }) => ({ name, params: numberParameters(name, text).params }))
  .filter(({ params }) => params.length > 0)
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, params }) => `  readonly "${name}": ${params.map((param) => `"${camelCase(param)}"`).join(" | ")};`);

const text = [
  "// Generated from the .sql files of this package by scripts/generate/statement-params.mjs.",
  "",
  "/** The named parameters of each statement that has some, in camelCase. */",
  "export interface StatementParams {",
  ...lines,
  "}",
  "",
].join("\n");

publish(import.meta.url, "packages/store/src/sql/generated/statement-params.ts", text);
