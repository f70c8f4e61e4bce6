import type { Completion, NoteAnswer, RunNote } from "@carillon/core";
import { type ClaimedRun, isStrict, type Lane, type Queued } from "@carillon/store";
import { NodeBreakers } from "../breakers/breakers.js";
import { BreakerProbe } from "./claims/breaker-probe.js";
import { ClaimLoop } from "./claims/claim-loop.js";
import { type Hold, LaneCursors } from "./claims/lane-cursors.js";
import { LaneGroups } from "./claims/lane-groups.js";
import { SlotReserver } from "./claims/slot-reservation.js";
import { StrictClaims } from "./claims/strict-claims.js";
import { DirectArrivals } from "./direct/direct-arrivals.js";
import type { DirectChannel } from "./direct/direct-channel.js";
import { SlotOfferer } from "./direct/slot-offerer.js";
import type { DispatchCatalog, DispatchContext } from "./dispatch-context.js";
import { HandlerState } from "./results/handler-state.js";
import { Results } from "./results/results.js";
import { WaitingRuns } from "./results/waiting-runs.js";
import { HeldClaims } from "./sessions/held-claims.js";
import { rescueRuns } from "./sessions/rescuer.js";
import { RunAssigner } from "./sessions/run-assigner.js";
import { ServedSessions } from "./sessions/served-sessions.js";
import { SessionMonitor, StopOrders } from "./sessions/session-monitor.js";
import type { ClaimName, StartedRun, WorkerHandlers, WorkerRegistration } from "./sessions/worker-registration.js";
import type { WorkerSession } from "./sessions/worker-session.js";

export interface GatewayDeps {
  readonly catalog: DispatchCatalog;
  /** Carries slot offers to the nodes that store runs. */
  readonly channel: Pick<DirectChannel, "address" | "sendOffer" | "serve">;
  /** Whether webhooks subscribe to the success of the run. */
  readonly hasSubscribers: (run: ClaimedRun) => boolean;
}

/** Claims runs for the workers of a node, assigns them, and stores their results. */
export class Gateway {
  /** Names the gateway in the rows of the sessions that it serves. */
  readonly id: string;
  /** The workers that this node serves. */
  readonly sessions: ServedSessions;
  /** Runs that wait for a callback without a worker. */
  readonly waiting: WaitingRuns;
  /** Circuit breakers, as this node sees them. */
  readonly breakers: NodeBreakers;
  /** Runs that were stored for workers of this node. */
  readonly arrivals: DirectArrivals;
  readonly #context: DispatchContext;
  readonly #catalog: DispatchCatalog;
  readonly #cursors: LaneCursors;
  readonly #groups: LaneGroups;
  readonly #strict: StrictClaims;
  readonly #offerer: SlotOfferer;
  readonly #claimLoop: ClaimLoop;
  readonly #results: Results;
  readonly #assigner: RunAssigner;
  readonly #claims: HeldClaims;
  readonly #monitor: SessionMonitor;
  readonly #reserver: SlotReserver;
  readonly #stops: StopOrders;
  readonly #handlerState: HandlerState;
  #isAddingLanes = false;

  /** The composition of dispatch. Parts that need each other do so only in calls: none is made before all are constructed. */
  constructor(context: DispatchContext, { catalog, channel, hasSubscribers }: GatewayDeps) {
    const { store, limits, clock, now, newId, loops, wakeups } = context;
    const { lanes, claims } = store;
    const { fullScanIntervalMs } = limits;
    const { queues, limitOwners } = catalog;
    const onError = (error: unknown): void => context.loopFailed("gateway", error);
    const monotonic = (): number => clock.monotonic();
    const groups = () => this.#groups.values();
    const wakeClaims = (): void => this.#claimLoop.wake();
    const assign = (sessions: readonly WorkerSession[], runs: readonly ClaimedRun[]): void => {
      this.breakers.claimed(runs);
      this.#assigner.assign(sessions, runs);
    };
    this.#context = context;
    this.#catalog = catalog;
    const gatewayId = newId();
    this.id = gatewayId;

    // Claims: which lanes are read from where, for which workers.
    const cursors = new LaneCursors(fullScanIntervalMs, (namespaceId, lane) => this.#holdOf(namespaceId, lane));
    this.#cursors = cursors;
    const weightOf = (namespaceId: number): number => catalog.namespaces.weightOf(namespaceId);
    this.#groups = new LaneGroups({ lanes, cursors, queues, weightOf, fullScanIntervalMs });
    const isStrictTrying: StrictClaims["isTrying"] = (isMeant) => this.#strict.isTrying(isMeant);
    const probe = new BreakerProbe({ cursors, groups, lanes, claims, isStrictTrying, wake: wakeClaims });
    this.breakers = new NodeBreakers({
      store: store.breakers,
      lane: (laneId) => lanes.get(laneId),
      now,
      monotonic,
      gatewayId,
      serves: (isBehind) => probe.serves(isBehind),
      isAtWork: (runId) => [...this.sessions.values()].some((session) => session.held.has(runId)),
      letOneThrough: (isBehind) => probe.admitOne(isBehind),
      onHeld: () => this.holdsChanged(),
      onChanged: () => wakeups.announce("queues"),
      onError,
    });
    this.#strict = new StrictClaims(context, {
      gatewayId,
      groups,
      isHeld: (namespaceId, laneId) => {
        const lane = lanes.get(laneId);
        return lane !== null && this.breakers.isHeldStrict(namespaceId, lane);
      },
      probeNameOf: (namespaceId, laneId) => {
        const lane = lanes.get(laneId);
        return lane === null ? null : this.breakers.probeNameOf(namespaceId, lane);
      },
      assign,
      wakeClaims,
    });
    this.#offerer = new SlotOfferer({
      gatewayId,
      cursors,
      monotonic,
      limitsRevision: () => limitOwners.revision,
      newId,
      sendOffer: (to, offer) => channel.sendOffer(to, offer),
    });
    this.#claimLoop = new ClaimLoop(context, {
      gatewayId,
      cursors,
      groups,
      limitOwners,
      strict: this.#strict,
      offerer: this.#offerer,
      assign,
    });
    this.#reserver = new SlotReserver({ claims, groups });

    // Results, and the state that handlers keep.
    const results = new Results(context, {
      claimLoop: this.#claimLoop,
      breakers: this.breakers,
      catalog,
      hasSubscribers,
      onAnswered: () => void this.waiting.tick().catch(onError),
    });
    this.#results = results;
    this.waiting = new WaitingRuns(context, results);
    this.#handlerState = new HandlerState(store);

    // Sessions, and the runs that they hold.
    this.#assigner = new RunAssigner(context, {
      results,
      sessions: () => this.sessions,
      namespaces: catalog.namespaces,
    });
    this.sessions = new ServedSessions(context, {
      gatewayId,
      groups: this.#groups,
      toAssignments: (runs) => this.#assigner.toAssignments(runs),
      wakeClaims,
    });
    const sessions = () => this.sessions.values();
    this.#claims = new HeldClaims(context);
    this.#monitor = new SessionMonitor(context, {
      results,
      assigner: this.#assigner,
      claims: this.#claims,
      sessions,
      wakeClaims,
    });
    this.#stops = new StopOrders(claims, sessions);

    // Direct dispatch: runs that other nodes store for workers of this one.
    this.arrivals = new DirectArrivals({
      store: store.directRuns,
      offerer: this.#offerer,
      cursors,
      groups,
      sessions: this.sessions,
      monotonic,
      assign,
      giveBack: (session, runs) => this.#claims.giveBack(session, runs),
      rescue: (runIds) => rescueRuns(context, runIds),
      onError,
    });
    channel.serve(this);

    wakeups.requestAs({ gatewayId, address: () => channel.address });
    wakeups.on("lanes", ({ notices, requester }) => this.hint(notices, requester));
    wakeups.on("lanes.all", () => this.hintAll());
    wakeups.on("stops", () => {
      this.deliverStops().catch((error: unknown) => context.loopFailed("workers", error));
    });
    loops.register("gateway", async () => {
      await this.scan();
      return fullScanIntervalMs;
    });
  }

  /** Registers a worker; it is assigned nothing before it is resumed. */
  async open(registration: WorkerRegistration): Promise<string> {
    const { store, newId } = this.#context;
    const namespaceId = await this.sessions.namespaceId(registration.namespace);
    const others = await this.sessions.namespaceIds(registration.namespaces);
    await this.#registerDefaults(others.length > 0 ? others : [namespaceId], registration.defaults);
    const id = newId();
    await store.sessions.open({ id, namespaceId, ...registration, gatewayId: this.id });
    await this.sessions.serve(id, namespaceId, registration);
    return id;
  }

  /** The defaults of a worker that serves every namespace count for its own: namespaces of the future are unknown. */
  async #registerDefaults(
    namespaceIds: readonly number[],
    defaults: WorkerRegistration["defaults"] = {},
  ): Promise<void> {
    const { emit, wakeups } = this.#context;
    const changed = await this.#catalog.tasks.register(namespaceIds, defaults);
    for (const { namespaceId, name: task } of changed) emit({ type: "task.defaults_changed", namespaceId, task });
    if (changed.length > 0) wakeups.announce("queues");
  }

  /**
   * Serves a worker that registered with another node, which claims nothing more for it. The runs that it holds are assigned again: a worker
   * ignores those that it has. Returns false if there is no such session.
   */
  async adopt(sessionId: string, handlers: WorkerHandlers): Promise<boolean> {
    const { store, clock } = this.#context;
    const found = await store.sessions.adopt(sessionId, this.id);
    if (found === null) return false;
    const session = await this.sessions.serve(sessionId, found.namespaceId, { ...found, ...handlers });
    this.sessions.applyState(session, found.state);
    session.isBeingVerified = true;
    try {
      // Also runs that were cancelled: the worker may execute them, and is ordered to stop as any other.
      this.#assigner.assignAgain(session, await this.#claims.heldBy(sessionId));
      session.takenOver = { runs: [...session.held.values()], at: clock.monotonic() };
    } catch (error) {
      this.sessions.forget(session);
      throw error;
    } finally {
      session.isBeingVerified = false;
    }
    return true;
  }

  /** The worker takes runs, until it is paused. */
  resume(sessionId: string): void {
    this.sessions.get(sessionId).isWaiting = true;
    this.#claimLoop.wake();
  }

  /** The worker takes nothing more; resolves when no claim for it is under way. */
  async pause(sessionId: string): Promise<void> {
    const session = this.sessions.get(sessionId);
    session.isWaiting = false;
    await session.untilNoClaims();
  }

  /** Stores how runs ended. Returns the ids that were accepted; the other runs were given to other workers meanwhile. */
  async complete(sessionId: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#results.take(this.sessions.get(sessionId), completions);
  }

  /** Queues runs that were not finished again; no try is spent. */
  async giveBack(sessionId: string, runs: readonly ClaimName[]): Promise<void> {
    await this.#claims.giveBack(
      this.sessions.get(sessionId),
      runs.map(({ runId: id, fence }) => ({ id, fence })),
    );
    this.#claimLoop.wake();
  }

  /** The worker started these runs, so long ago: losing it counts as a loss of them. */
  async started(sessionId: string, runs: readonly StartedRun[]): Promise<void> {
    await this.#claims.started(this.sessions.get(sessionId), runs);
  }

  /** Stores and reads what handlers keep while they run; one answer to each, in their order. */
  async note(sessionId: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const over = new Set(await this.notHeld(sessionId, notes));
    const session = this.sessions.get(sessionId);
    const answers = await this.#handlerState.answer(session, notes, (note) => over.has(note));
    notes.forEach((note, place) => {
      if (note.kind === "progress" && answers[place]?.kind === "done") this.#announceProgress(session, note);
    });
    return answers;
  }

  #announceProgress(session: WorkerSession, { runId, fraction, text }: Extract<RunNote, { kind: "progress" }>): void {
    const run = session.held.get(runId);
    if (run === undefined) return;
    const { namespaceId, jobId, lane } = run;
    const { store, emit } = this.#context;
    const { task = "", queue = "" } = store.lanes.get(lane) ?? {};
    emit({ type: "run.progress", namespaceId, runId, jobId, task, queue, fraction, text });
  }

  /** The claims among these that the session does not hold. */
  async notHeld<Run extends ClaimName>(sessionId: string, runs: readonly Run[]): Promise<Run[]> {
    return this.#claims.notHeld(this.sessions.get(sessionId), runs);
  }

  /** Claims nothing more for the worker for the moment; runs on their way still arrive. */
  rest(sessionId: string): void {
    const session = this.sessions.find(sessionId);
    if (session !== null) session.isWaiting = false;
  }

  isOpen(sessionId: string): boolean {
    return this.sessions.find(sessionId) !== null;
  }

  /** This node no longer serves the worker; its session goes on. */
  forget(sessionId: string): void {
    const session = this.sessions.find(sessionId);
    if (session !== null) this.sessions.forget(session);
  }

  async close(sessionId: string): Promise<void> {
    this.forget(sessionId);
    await this.#context.store.sessions.close(sessionId);
    await this.arrivals.sessionClosed();
  }

  /** Runs became claimable. A requester is the gateway of the node that stored them, which would take a slot offer. */
  hint(runs: readonly Pick<Queued, "lane" | "rank" | "namespaceId">[], requester: string | null = null): void {
    const { lanes } = this.#context.store;
    for (const { lane, rank, namespaceId } of runs) {
      const known = lanes.get(lane);
      if (known !== null && namespaceId !== undefined && !this.#cursors.has(lane, namespaceId))
        this.#groups.add(known, namespaceId);
      if (known !== null && isStrict(known.kind)) this.#strict.hint(known.queue);
      else this.#cursors.hint(lane, rank, namespaceId);
      if (
        requester !== null &&
        namespaceId !== undefined &&
        known?.kind === "plain" &&
        this.#cursors.has(lane, namespaceId)
      )
        this.#offerer.requested(requester, lane, namespaceId);
      if (this.#groups.isNew(lane)) this.#addLanes();
    }
    this.#claimLoop.wake();
  }

  /** Hints may have been missed. */
  hintAll(): void {
    this.#cursors.hintAll();
    this.#strict.hintAll();
    this.#claimLoop.wake();
  }

  /** Queues were paused or resumed, limits changed, or breakers opened or closed: other lanes may be claimed from. */
  holdsChanged(): void {
    this.#cursors.refreshHolds();
    this.#strict.hintAll();
    this.#claimLoop.wake();
  }

  /** Why runs of the lane may not be claimed: its queue is paused, its runs have to be admitted first, or an open breaker admits single runs. */
  #holdOf(namespaceId: number, lane: Lane): Hold | null {
    const { queues, limitOwners } = this.#catalog;
    if (queues.isPaused(namespaceId, lane.queue)) return "shut";
    if (lane.kind !== "admitted" && limitOwners.isLimited(namespaceId, lane.queue)) return "shut";
    return this.breakers.isHeld(namespaceId, lane) ? "tried" : null;
  }

  /** Runs that sessions hold may have been cancelled: their workers are ordered to stop. */
  async deliverStops(): Promise<void> {
    await Promise.all([this.#stops.scan(), this.waiting.endStopped()]);
  }

  /** One pass of heartbeats. */
  async heartbeat(): Promise<void> {
    await this.sessions.heartbeat();
    await this.#stops.scan();
  }

  /** One pass over what may have been missed: new lanes, unconfirmed claims, overdue runs, direct runs without a notice, crowded workers. */
  async scan(): Promise<void> {
    await this.#groups.scan();
    await this.#monitor.scan();
    await this.arrivals.scan();
    await this.#reserver.scan();
    this.#offerer.expireRequests();
    this.#claimLoop.wake();
  }

  stop(): void {
    this.#claimLoop.stop();
    this.#strict.stop();
  }

  /** A run is in a lane that was made since the last scan. */
  #addLanes(): void {
    if (this.#isAddingLanes) return;
    this.#isAddingLanes = true;
    const done = (): void => void (this.#isAddingLanes = false);
    const onError = (error: unknown): void => this.#context.loopFailed("gateway", error);
    this.#groups
      .scan()
      .then(() => this.#claimLoop.wake(), onError)
      .then(done, done);
  }
}
