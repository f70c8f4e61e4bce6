import { NodeBreakers } from "../breakers/node-breakers.js";
import type { Lane } from "@carillon/store";
import { Exchanger } from "./claims/claim-loop.js";
import type { GatewayOptions, HandOvers } from "./gateway-options.js";
import { Handout } from "./run-assigner.js";
import { HandedArrivals } from "./direct/direct-arrivals.js";
import { HeavySavings } from "./slot-reservation.js";
import { HeldClaims } from "./sessions/held-claims.js";
import { LaneBounds } from "./claims/lane-bounds.js";
import { LaneGroups } from "./claims/lane-groups.js";
import type { Hold } from "./claims/lane-cursor.js";
import { Notes } from "./results/handler-state.js";
import { Offering } from "./direct/slot-offering.js";
import { ProbeDoor } from "./claims/breaker-probe.js";
import { Results } from "./results/results.js";
import { ServedSessions } from "./served-sessions.js";
import { SessionWatch } from "./session-watch.js";
import { StopOrders } from "./sessions/stop-orders.js";
import { StrictClaims } from "./claims/strict-claims.js";
import { WaitingRuns } from "./results/waiting-runs.js";

const noHandOvers: HandOvers = {
  store: { read: () => Promise.resolve([]), find: () => Promise.resolve([]) },
  send: () => undefined,
  rescue: () => Promise.resolve(),
};

/** What a gateway is made of. Parts that need each other know each other by calls alone: nothing is called before all are made. */
export class GatewayParts {
  /** Names the gateway in the rows of the sessions that it serves. */
  readonly gatewayId: string;
  readonly bounds: LaneBounds;
  readonly breakers: NodeBreakers;
  readonly groups: LaneGroups;
  readonly offering: Offering;
  readonly strict: StrictClaims;
  readonly exchanger: Exchanger;
  readonly results: Results;
  readonly handout: Handout;
  readonly sessions: ServedSessions;
  readonly claims: HeldClaims;
  readonly watch: SessionWatch;
  readonly handed: HandedArrivals;
  readonly savings: HeavySavings;
  readonly stops: StopOrders;
  readonly notes: Notes;
  readonly waiting: WaitingRuns;
  readonly #options: GatewayOptions;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.gatewayId = options.newId();
    this.bounds = new LaneBounds(options.fullLookMs, (namespaceId, lane) => this.#whyShut(namespaceId, lane));
    this.breakers = this.#makeBreakers();
    this.groups = new LaneGroups({ ...options, bounds: this.bounds });
    this.strict = this.#makeStrict();
    this.offering = this.#makeOffering();
    this.exchanger = this.#makeExchanger();
    this.results = this.#makeResults();
    const { results } = this;
    this.handout = new Handout({
      ...options,
      results,
      isServed: (session) => this.sessions.find(session.id) !== null,
    });
    this.sessions = new ServedSessions({
      ...options,
      gatewayId: this.gatewayId,
      groups: this.groups,
      assignments: (runs) => this.handout.assignments(runs),
      onRoom: () => this.exchanger.wake(),
    });
    this.claims = new HeldClaims(options);
    const sessions = () => this.sessions.values();
    this.watch = new SessionWatch({
      ...options,
      results,
      handout: this.handout,
      giveBack: (session, runs) => this.claims.giveBack(session, runs),
      sessions,
      onRoom: () => this.exchanger.wake(),
    });
    this.handed = this.#makeHanded();
    this.savings = new HeavySavings({ claims: options.claims, groups: () => this.groups.values() });
    this.stops = new StopOrders(options.claims, sessions);
    this.notes = new Notes(options);
    this.waiting = new WaitingRuns({ ...options, results });
  }

  /** What may be handed out has changed: whoever was held back is looked at again. */
  holdAgain(): void {
    this.bounds.holdAgain();
    this.strict.hintAll();
    this.exchanger.wake();
  }

  /** Its queue is paused, or its runs have to be admitted first; or an open breaker lets single ones through. */
  #whyShut(namespaceId: number, lane: Lane): Hold | null {
    const { queues, limitOwners } = this.#options;
    if (queues.isPaused(namespaceId, lane.queue)) return "shut";
    if (lane.kind !== "admitted" && limitOwners.isLimited(namespaceId, lane.queue)) return "shut";
    return this.breakers.isHeld(namespaceId, lane) ? "tried" : null;
  }

  #makeBreakers(): NodeBreakers {
    const { breakers: store, lanes, claims, clock, now, onBreakersChanged, onError } = this.#options;
    const door = new ProbeDoor({
      bounds: this.bounds,
      groups: () => this.groups.values(),
      lanes,
      claims,
      isStrictTrying: (isMeant) => this.strict.isTrying(isMeant),
      wake: () => this.exchanger.wake(),
    });
    return new NodeBreakers({
      store,
      lane: (laneId) => lanes.get(laneId),
      now,
      monotonic: () => clock.monotonic(),
      gatewayId: this.gatewayId,
      serves: (isBehind) => door.serves(isBehind),
      isAtWork: (runId) => [...this.sessions.values()].some((session) => session.held.has(runId)),
      letOneThrough: (isBehind) => door.letOneThrough(isBehind),
      onHeld: () => this.holdAgain(),
      onChanged: onBreakersChanged ?? (() => undefined),
      onError,
    });
  }

  #makeStrict(): StrictClaims {
    const { claims, timers, clock, lanes, fullLookMs, now, onError } = this.#options;
    return new StrictClaims({
      gatewayId: this.gatewayId,
      claims,
      groups: () => this.groups.values(),
      timers,
      monotonic: () => clock.monotonic(),
      fullLookMs,
      isHeld: (namespaceId, laneId) => {
        const lane = lanes.get(laneId);
        return lane !== null && this.breakers.isHeldStrict(namespaceId, lane);
      },
      trialOf: (namespaceId, laneId) => {
        const lane = lanes.get(laneId);
        return lane === null ? null : this.breakers.probeNameOf(namespaceId, lane);
      },
      onClaimed: (session, run) => {
        this.breakers.claimed([run]);
        this.handout.give([session], [run]);
      },
      onDoubt: (session) => session.doubt.raise(now()),
      onSettled: () => this.exchanger.wake(),
      onError,
    });
  }

  #makeExchanger(): Exchanger {
    const { claims, timers, clock, batch, lanes, limitOwners, now, onLimitedClaimed, onFreed, onError } = this.#options;
    return new Exchanger({
      gatewayId: this.gatewayId,
      claims,
      bounds: this.bounds,
      groups: () => this.groups.values(),
      timers,
      monotonic: () => clock.monotonic(),
      batch,
      limitsRevision: () => limitOwners.revision,
      onWake: () => this.strict.wake(),
      onWoken: () => this.offering.freed(),
      onClaimed: ({ sessions }, runs) => {
        this.breakers.claimed(runs);
        this.handout.give(sessions, runs);
        const limited = runs.filter(({ lane }) => lanes.get(lane)?.kind === "admitted");
        if (limited.length > 0) onLimitedClaimed?.(limited.map((run) => run.id));
      },
      onSettled: (group, runs) => this.offering.claimed(group, runs),
      onDoubt: ({ sessions }) => sessions.forEach((session) => session.doubt.raise(now())),
      onFreed,
      onError,
    });
  }

  #makeOffering(): Offering {
    const { clock, limitOwners, handOvers = noHandOvers, newId } = this.#options;
    return new Offering({
      gatewayId: this.gatewayId,
      bounds: this.bounds,
      monotonic: () => clock.monotonic(),
      limitsRevision: () => limitOwners.revision,
      newId,
      send: handOvers.send,
    });
  }

  #makeHanded(): HandedArrivals {
    const { clock, handOvers = noHandOvers, onError } = this.#options;
    return new HandedArrivals({
      ...handOvers,
      offering: this.offering,
      bounds: this.bounds,
      groups: () => this.groups.values(),
      sessions: () => this.sessions.values(),
      find: (sessionId) => this.sessions.find(sessionId),
      monotonic: () => clock.monotonic(),
      onTaken: (session, runs) => {
        this.breakers.claimed(runs);
        this.handout.give([session], runs);
      },
      giveBack: (session, runs) => this.claims.giveBack(session, runs),
      onError,
    });
  }

  #makeResults(): Results {
    const { onQueued, onError } = this.#options;
    return new Results({
      ...this.#options,
      exchanger: this.exchanger,
      breakers: this.breakers,
      onSlotFree: (runs) => onQueued(runs),
      onAnswered: () => void this.waiting.tick().catch(onError),
    });
  }
}
