import type { DurationMs } from "@carillon/core";
import type { ClaimedRun, StrictClaim } from "@carillon/store";
import type { DispatchContext } from "../dispatch-context.js";
import type { WorkerSession } from "../sessions/worker-session.js";
import type { LaneGroup } from "./lane-groups.js";
import { allocateSlots } from "./slot-allocation.js";

export interface StrictClaimsDeps {
  readonly gatewayId: string;
  readonly groups: () => Iterable<LaneGroup>;
  /** Runs of the lane may not be claimed: while one is the first of its queue, no run of the queue is. */
  readonly isHeld: (namespaceId: number, laneId: number) => boolean;
  /** The breaker for which one run of the lane may be tried, and no more; null: the lane is open. */
  readonly probeNameOf: (namespaceId: number, laneId: number) => string | null;
  /** A run was claimed for this session. */
  readonly assign: (sessions: readonly WorkerSession[], runs: readonly ClaimedRun[]) => void;
  /** A claim ended, and its slot may be free. */
  readonly wakeClaims: () => void;
}

/** What is known of one strict queue of one namespace, for one group of workers. */
interface QueueState {
  isClaiming: boolean;
  /** Something changed since the last claim began. */
  isOpen: boolean;
  claimAt: DurationMs;
}

type Wanted = Pick<StrictClaim, "namespaceId" | "queue" | "lanes" | "trials">;

const pauseAfterErrorMs = 500;

/**
 * Claims runs of strict queues, one at a time: by a statement of their own, which compares the queue's slot. The database alone decides
 * which claim gets the slot; this class decides when to ask for it.
 */
export class StrictClaims {
  readonly #context: DispatchContext;
  readonly #deps: StrictClaimsDeps;
  readonly #queues = new WeakMap<LaneGroup, Map<string, QueueState>>();
  readonly #claiming = new Set<Wanted>();
  #timer: unknown = null;
  #isStopped = false;

  constructor(context: DispatchContext, deps: StrictClaimsDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** The queue may have another first run, or its slot may be free. */
  hint(queue: string): void {
    for (const group of this.#deps.groups()) if (group.strict.has(queue)) this.#open(group, queue);
  }

  hintAll(): void {
    for (const group of this.#deps.groups()) for (const queue of group.strict.keys()) this.#open(group, queue);
  }

  /** A worker may have room, or a run may be claimable. */
  wake(): void {
    if (this.#isStopped) return;
    const { clock, timers } = this.#context;
    timers.clearTimeout(this.#timer);
    const now = clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const group of this.#deps.groups()) {
      for (const [queue, namespaceId] of queuesOf(group)) {
        const state = this.#state(group, queue, namespaceId);
        if (state.isClaiming) continue;
        const session = freest(group);
        if (session === null) break;
        const lanes = [...(group.strict.get(queue) ?? [])].filter((lane) => !this.#deps.isHeld(namespaceId, lane));
        if (lanes.length === 0) continue;
        if (state.isOpen || now >= state.claimAt)
          void this.#claim(state, { group, session }, this.#wanted(namespaceId, queue, lanes));
        else next = Math.min(next, state.claimAt);
      }
    }
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = timers.setTimeout(() => this.wake(), Math.max(1, Math.ceil(next - now)));
  }

  /** Whether a claim under way may try a run of such a lane for its breaker. */
  isTrying(isMeant: (namespaceId: number, laneId: number) => boolean): boolean {
    return [...this.#claiming].some(({ namespaceId, trials }) => trials.some(({ lane }) => isMeant(namespaceId, lane)));
  }

  stop(): void {
    this.#isStopped = true;
    this.#context.timers.clearTimeout(this.#timer);
  }

  async #claim(
    state: QueueState,
    { group, session }: { readonly group: LaneGroup; readonly session: WorkerSession },
    wanted: Wanted,
  ): Promise<void> {
    const { clock, store, limits, now, loopFailed } = this.#context;
    const { gatewayId, assign, wakeClaims } = this.#deps;
    state.isClaiming = true;
    state.isOpen = false;
    this.#claiming.add(wanted);
    session.beginClaim(group);
    try {
      const run = await store.claims.claimStrict({ gatewayId, session: session.id, ...wanted });
      // A run whose hint was lost, and a slot whose release was not announced, are found then at the latest.
      state.claimAt = clock.monotonic() + limits.fullScanIntervalMs;
      // Assigned before the claim ends: in between, the slot would count as free.
      if (run !== null) assign([session], [run]);
    } catch (error) {
      state.claimAt = clock.monotonic() + pauseAfterErrorMs;
      // The claim may have been committed all the same.
      session.unconfirmed.begin(now());
      loopFailed("gateway", error);
    } finally {
      session.endClaim(group);
      state.isClaiming = false;
      this.#claiming.delete(wanted);
      wakeClaims();
    }
  }

  #wanted(namespaceId: number, queue: string, lanes: readonly number[]): Wanted {
    const trials = lanes.flatMap((lane) => {
      const breaker = this.#deps.probeNameOf(namespaceId, lane);
      return breaker === null ? [] : [{ lane, breaker }];
    });
    return { namespaceId, queue, lanes, trials };
  }

  #open(group: LaneGroup, queue: string): void {
    for (const namespaceId of group.usersOf(queue)) this.#state(group, queue, namespaceId).isOpen = true;
  }

  #state(group: LaneGroup, queue: string, namespaceId: number): QueueState {
    const key = `${namespaceId} ${queue}`;
    let states = this.#queues.get(group);
    if (states === undefined) this.#queues.set(group, (states = new Map<string, QueueState>()));
    let state = states.get(key);
    if (state === undefined) states.set(key, (state = { isClaiming: false, isOpen: true, claimAt: 0 }));
    return state;
  }
}

function* queuesOf(group: LaneGroup): Generator<[queue: string, namespaceId: number]> {
  for (const queue of group.strict.keys()) for (const namespaceId of group.usersOf(queue)) yield [queue, namespaceId];
}

/** The session with the most free slots; runs of a strict queue never wait at a worker. */
function freest(group: LaneGroup): WorkerSession | null {
  const slots = allocateSlots(group.sessions, 1, group);
  const [first] = slots.order;
  return slots.free === 0 || first === undefined ? null : (slots.sessions[first] ?? null);
}
