import type { Outcome } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { EagerWorker } from "../../harness/eager-worker.js";
import { createEngineStore } from "../../harness/engine-store.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";
import { type GatewayHarness, gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

/** A statement that was not sent, or one whose outcome is unknown. */
const away = expect.stringMatching(/^(database_unavailable|outcome_unknown)$/) as string;

const maxLosses = 3;

let h: StoreHarness;
let frail: FrailDatabase;
const gateways: Gateway[] = [];
beforeEach(async () => {
  h = await storeHarness();
  frail = await frailDatabase(h.url);
  const text = "insert into carillon.queue (namespace_id, name, order_kind) values (1, 'ledger', 'strict')";
  await h.db.query({ text });
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  await frail.close();
  await h.close();
});

type Act = (node: Node, given: Assigned) => Promise<unknown>;

/** A node that dies, and the worker that it serves. */
interface Node extends GatewayHarness {
  readonly session: string;
  readonly given: Promise<Assigned>;
}

const failed = (retryable: boolean): Outcome => ({
  kind: "failed",
  reason: "handler_error",
  error: { type: "Error", message: "no", retryable },
});
const ends =
  (outcome: Outcome): Act =>
  ({ gateway, session }, { runId, fence }) =>
    gateway.complete(session, [{ runId, fence, startedAgoMs: 0, outcome }]);
const claim = ({ runId, fence }: Assigned) => [{ runId, fence, agoMs: 0 }];
const succeeds = ends({ kind: "succeeded", outputJson: '"first"' });

/** Every statement that changes a run, and what makes a gateway send it; null: that a worker waits. */
const statements: readonly (readonly [statement: string, act: Act | null])[] = [
  ["run.complete_and_claim", null],
  ["run.claim_strict", null],
  ["run.complete_and_claim", succeeds],
  ["run.finish", ends(failed(false))],
  ["run.retry", ends(failed(true))],
  ["run.defer", ends({ kind: "snoozed", delayMs: 1 })],
  ["run.started", ({ gateway, session }, given) => gateway.started(session, claim(given))],
  ["run.give_back", ({ gateway, session }, given) => gateway.giveBack(session, claim(given))],
];
const moments = ["before it is sent", "after its commit, before its answer"] as const;
const probes = statements.flatMap(([statement, act]) =>
  moments.map((moment) => {
    const what = act === null ? "a claim" : act === succeeds ? "a result" : "what a worker says";
    return [`${moment}: ${statement}, ${what}`, { statement, act, moment }] as const;
  }),
);

function breakAt(statement: string, moment: (typeof moments)[number]): void {
  if (moment === "before it is sent") frail.breakBefore(statement);
  else frail.proxy.loseAnswerTo(statement);
}

async function failing(work: Promise<unknown>): Promise<void> {
  await expect(work).rejects.toMatchObject({ code: away });
}

async function nodeOver(queue: string): Promise<Node> {
  const store = createEngineStore(frail.database);
  const harness = gatewayOver(h, { store: { claims: store.claims } });
  gateways.push(harness.gateway);
  let take: (run: Assigned) => void = () => undefined;
  const given = new Promise<Assigned>((resolve) => (take = resolve));
  const session = await harness.gateway.open({
    namespace: "default",
    name: "w",
    queues: [queue],
    tasks: ["echo"],
    slots: 1,
    ahead: 0,
    nodeId: null,
    onAssign: ([run]) => run !== undefined && take(run),
    onStop: () => undefined,
    onLost: () => undefined,
  });
  return { ...harness, session, given };
}

/** What other nodes do when they find that a worker is gone, and when the next try is due. */
async function rescue(session: string): Promise<void> {
  await h.store.sessions.close(session);
  const lost = (await h.store.runs.lost(100)).map((run) => run.id);
  await h.store.runs.buryLost(lost, maxLosses);
  await h.store.runs.rescue(lost, maxLosses);
  const waiting = "state in ('scheduled', 'retrying')";
  await h.db.query({ text: `update carillon.run set state = 'queued', run_at = now() where ${waiting}` });
}

describe("lost nodes", () => {
  it.each(probes)(
    "a run ends once although its node is lost: %s [INV-2] [INV-4] [INV-6]",
    async (_title, { statement, act, moment }) => {
      const queue = statement === "run.claim_strict" ? "ledger" : "default";
      const kind = queue === "ledger" ? "strict" : "plain";
      const [lane = 0] = await h.store.lanes.ensure([{ queue, task: "echo", kind }]);
      const id = await h.run({ lane, queue });
      const node = await nodeOver(queue);
      if (act === null) breakAt(statement, moment);
      node.gateway.resume(node.session);
      if (act === null) await node.errors.next();
      else {
        const given = await node.given;
        breakAt(statement, moment);
        await failing(act(node, given));
      }
      node.gateway.stop();
      await rescue(node.session);

      const { gateway } = gatewayOver(h, { limits: { fullScanIntervalMs: 20 } });
      gateways.push(gateway);
      const isEnded = async () => (await h.store.reads.finished(1, [id], 0)).length === 1;
      const before = await isEnded();
      const other = await EagerWorker.over(gateway, { queues: [queue] });
      if (!before) await other.until(1);
      const [ended, ...more] = await h.store.reads.finished(1, [id], 0);
      expect(more).toEqual([]);
      expect(await h.store.reads.live(1, [id])).toEqual([]);
      // A write of the lost node counts if it was committed, and then no worker repeats it.
      expect(other.ids).toEqual(before ? [] : [id]);
      const isFinal = moment !== "before it is sent" && (act === succeeds || statement === "run.finish");
      const status = isFinal && act !== succeeds ? "failed" : "succeeded";
      const output = isFinal && act === succeeds ? "first" : null;
      expect([before, ended?.status, ended?.output ?? null]).toEqual([isFinal, status, output]);
    },
  );
});
