import type { Namespace } from "@carillon/contract";
import { ownLimitFields } from "./own-limits.js";
import { type Column, renderFields } from "../table.js";

export const namespaceColumns: readonly Column<Namespace>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "WEIGHT", value: ({ weight }) => String(weight), align: "right" },
  { title: "CREATED", value: ({ created_at: at }) => at },
];

/** One namespace for people. */
export function renderNamespace(namespace: Namespace): string {
  return renderFields([
    ["name", namespace.name],
    ["weight", String(namespace.weight)],
    ...ownLimitFields(namespace),
    ["created", namespace.created_at],
  ]);
}
