// Writes packages/client/src/generated/routes.ts from the operations that name a method of the client: what the client must know at run time,
// so that it need not load the schemas. With --check, says whether the committed file is current.
import { operations } from "../../packages/contract/dist/index.js";
import { publish } from "./publish.mjs";

function renderRoutes() {
  const groups = new Map();
  for (const [id, operation] of Object.entries(operations)) {
    if (operation.client === undefined || operation.streams === true) continue;
    const [group, method] = operation.client.includes(".") ? operation.client.split(".") : ["", operation.client];
    groups.set(group, [...(groups.get(group) ?? []), { method, id, operation }]);
  }
  const { "": alone = [], ...named } = Object.fromEntries(groups);
  return [
    "// Made by scripts/generate/client.mjs from the operations in packages/contract. Do not edit.",
    'import type { Route } from "../methods.js";',
    "",
    "export const routes = {",
    ...Object.entries(named).flatMap(([group, methods]) => [`  ${group}: {`, ...linesOf(methods, "    "), "  },"]),
    ...linesOf(alone, "  "),
    "} as const satisfies Readonly<Record<string, Route | Readonly<Record<string, Route>>>>;",
    "",
  ].join("\n");
}

function linesOf(methods, indent) {
  return methods.flatMap(({ method, id, operation }) => [
    `${indent}/** ${operation.summary}. */`,
    `${indent}${method}: { ${membersOf(id, operation).join(", ")} },`,
  ]);
}

function membersOf(id, { method, path, body, clientBody, query, answers }) {
  const parameters = Object.keys(query?.properties ?? {});
  const problems = Object.keys(answers).filter((status) => Number(status) >= 400);
  return [
    `id: "${id}", call: "${method} ${path}"`,
    ...(body === undefined ? [] : [`body: ${clientBody === undefined ? true : `"${clientBody}"`}`]),
    ...(parameters.some((name) => name !== "wait") ? ["query: true"] : []),
    ...(parameters.includes("wait") ? ["wait: true"] : []),
    ...(problems.length === 0 ? [] : [`alsoGood: [${problems.join(", ")}]`]),
  ];
}

publish(import.meta.url, "packages/client/src/generated/routes.ts", renderRoutes());
