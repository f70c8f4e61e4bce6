// Generates docs/reference/openapi.json from the built contract.
import { readFileSync } from "node:fs";
import { openApiDocument } from "../../packages/contract/dist/index.js";
import { publish } from "./publish.mjs";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
publish(import.meta.url, "docs/reference/openapi.json", `${JSON.stringify(openApiDocument(version), null, 2)}\n`);
