import type { Namespace } from "@carillon/contract";
import { type Column, renderFields } from "./table.js";

export const namespaceColumns: readonly Column<Namespace>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "WEIGHT", value: ({ weight }) => String(weight), align: "right" },
  { title: "CREATED", value: ({ created_at: at }) => at },
];

/** One namespace for people. */
export function renderNamespace({ name, weight, created_at: createdAt }: Namespace): string {
  return renderFields([
    ["name", name],
    ["weight", String(weight)],
    ["created", createdAt],
  ]);
}
