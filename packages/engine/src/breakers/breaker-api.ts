import type { Breakers } from "./breakers.js";
import type { BreakerStore } from "@carillon/store";

export interface BreakerApiParts {
  readonly breakers: Pick<BreakerStore, "page" | "reset">;
  /** The id of a namespace; throws not_found. */
  readonly namespaceId: (name: string) => Promise<number>;
  /** Awaited, so that this node follows it before callers hear of it. */
  readonly onReset: () => Promise<void>;
}

/** Breakers as callers see them. */
export function breakerApi({ breakers, namespaceId, onReset }: BreakerApiParts): Breakers {
  return {
    async listBreakers(namespace, { pageSize, after }) {
      const of = { limit: pageSize + 1, ...(after !== undefined && { after }) };
      const rows = await breakers.page(await namespaceId(namespace), of);
      const shown = rows.slice(0, pageSize);
      return { rows: shown, next: rows.length > pageSize ? (shown.at(-1)?.name ?? null) : null };
    },
    async getBreaker(namespace, name) {
      return (await breakers.page(await namespaceId(namespace), { limit: 1, only: name }))[0] ?? null;
    },
    async resetBreaker(namespace, name) {
      const reset = await breakers.reset({ namespaceId: await namespaceId(namespace), name });
      if (reset !== null) await onReset();
      return reset;
    },
  };
}
