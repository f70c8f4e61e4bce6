import type { BreakerView } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { type Page, type PageRequest, toPage } from "../requests.js";
import type { NodeBreakers } from "./node-breakers.js";

/** Breakers of a namespace that have opened at least once, by name. */
export class Breakers {
  readonly #context: Pick<EngineContext, "store" | "inNamespace" | "wakeups">;
  readonly #nodeBreakers: Pick<NodeBreakers, "refresh">;

  constructor(
    context: Pick<EngineContext, "store" | "inNamespace" | "wakeups">,
    { nodeBreakers }: { readonly nodeBreakers: Pick<NodeBreakers, "refresh"> },
  ) {
    this.#context = context;
    this.#nodeBreakers = nodeBreakers;
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<BreakerView>> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (id) => {
      const rows = await store.breakers.page(id, { limit: pageSize + 1, ...(after !== undefined && { after }) });
      return toPage(rows, pageSize, (row) => row.name);
    });
  }

  get(namespace: string, name: string): Promise<BreakerView | null> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (id) => (await store.breakers.page(id, { limit: 1, only: name }))[0] ?? null);
  }

  /** Closes a breaker manually; null when it never opened. This node follows the reset before the caller is answered. */
  reset(namespace: string, name: string): Promise<BreakerView | null> {
    const { inNamespace, store, wakeups } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const reset = await store.breakers.reset({ namespaceId, name });
      if (reset === null) return null;
      await this.#nodeBreakers.refresh();
      wakeups.announce("queues");
      return reset;
    });
  }
}
