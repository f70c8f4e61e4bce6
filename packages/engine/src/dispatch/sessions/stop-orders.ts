import type { StopOrder } from "@carillon/core";
import type { ClaimedRun, ClaimStore } from "@carillon/store";

/** A session with a worker that can be told to stop runs. */
export interface StoppableSession {
  readonly held: ReadonlyMap<string, ClaimedRun>;
  readonly events: { readonly onStop: (orders: readonly StopOrder[]) => void };
}

/** Passes on to workers which of their runs are to stop, at every look: who was told already has nothing to do. */
export class StopOrders {
  readonly #claims: Pick<ClaimStore, "stops">;
  readonly #sessions: () => Iterable<StoppableSession>;
  #looking: Promise<void> | null = null;
  #isAsked = false;

  constructor(claims: Pick<ClaimStore, "stops">, sessions: () => Iterable<StoppableSession>) {
    this.#claims = claims;
    this.#sessions = sessions;
  }

  /** Something may have changed: looks now, or once more if a look is under way. */
  async look(): Promise<void> {
    this.#isAsked = true;
    this.#looking ??= this.#lookWhileAsked().finally(() => (this.#looking = null));
    await this.#looking;
  }

  async #lookWhileAsked(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      const sessions = [...this.#sessions()];
      const stops = await this.#claims.stops(sessions.flatMap((session) => [...session.held.keys()]));
      if (stops.length === 0) continue;
      for (const session of sessions) tell(session, stops);
    }
  }
}

function tell({ held, events }: StoppableSession, stops: Awaited<ReturnType<ClaimStore["stops"]>>): void {
  const orders = stops
    .filter(({ id, fence }) => held.get(id)?.fence === fence)
    .map(({ id: runId, fence, reason }) => ({ runId, fence, reason }));
  if (orders.length > 0) events.onStop(orders);
}
