import type { DurationMs } from "@carillon/core";

const spanMs: DurationMs = 10_000;
const mostInSpan = 5;
/** Kinds that are remembered; beyond that counting begins anew. */
const mostKinds = 500;

interface Seen {
  since: number;
  count: number;
}

/** What fails a thousand times a second is said a few times: of each kind five in ten seconds, and then how many were kept back. */
export class FewOfEach {
  readonly #monotonic: () => number;
  readonly #seen = new Map<string, Seen>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Null: keep it back. Else how many of its kind were, since the last that was said. */
  pass(kind: string, most = mostInSpan): { readonly keptBack: number } | null {
    const now = this.#monotonic();
    const seen = this.#seen.get(kind);
    if (seen !== undefined && now - seen.since < spanMs) return ++seen.count <= most ? { keptBack: 0 } : null;
    if (this.#seen.size >= mostKinds) this.#seen.clear();
    this.#seen.set(kind, { since: now, count: 1 });
    return { keptBack: Math.max(0, (seen?.count ?? 0) - most) };
  }
}
