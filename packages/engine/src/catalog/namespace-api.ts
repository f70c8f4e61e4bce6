import { CarillonError } from "@carillon/core";
import type { Namespaces } from "./namespaces.js";
import type { NamespaceStore, NamespaceView } from "@carillon/store";

export interface NamespaceApiParts {
  readonly namespaces: Pick<NamespaceStore, "page" | "create" | "change">;
  /** A change is stored. Awaited, so that this node follows it before callers hear of it. */
  readonly onChanged: () => Promise<void>;
}

/** Namespaces as callers see them. */
export function namespaceApi({ namespaces, onChanged }: NamespaceApiParts): Namespaces {
  const find = async (name: string): Promise<NamespaceView | null> =>
    (await namespaces.page({ limit: 1, only: name }))[0] ?? null;
  return {
    async listNamespaces({ pageSize, after }) {
      const rows = await namespaces.page({ limit: pageSize + 1, ...(after !== undefined && { after }) });
      const shown = rows.slice(0, pageSize);
      return { rows: shown, next: rows.length > pageSize ? (shown.at(-1)?.name ?? null) : null };
    },
    getNamespace: find,
    async createNamespace(name, weight) {
      const made = await namespaces.create(name, weight);
      if (made === null) throw new CarillonError("namespace_taken", `There is a namespace ${name} already.`);
      await onChanged();
      return made;
    },
    async changeNamespace(name, change, { ifVersion }) {
      const changed = await namespaces.change(name, change, ifVersion ?? null);
      if (changed === null) throw refusal(name, await find(name), ifVersion);
      await onChanged();
      return changed;
    },
  };
}

function refusal(name: string, found: NamespaceView | null, ifVersion: number | undefined): CarillonError {
  if (found === null) return new CarillonError("not_found", `There is no namespace ${JSON.stringify(name)}.`);
  return new CarillonError(
    "precondition_failed",
    `The namespace ${name} has version ${found.version}, not ${ifVersion ?? "this one"}.`,
  );
}
