// The actions that every way performs. An action returns the answer to compare; `expect` is a part that the answer must contain.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {object} Action
 * @property {string} title
 * @property {number} round actions of one round run at the same time
 * @property {(way: any, ids: any) => Promise<unknown>} act `ids` are the ids that earlier actions of this way stored
 * @property {object} expect a part of the answer
 */

const definitionFields = "key task payload schedule labels retry overlap misfire queue description version".split(" ");

/** The definition of a job, without the members that its runs change. */
const definition = (job) => Object.fromEntries(definitionFields.map((name) => [name, job[name]]));

/** A run without the worker that ran it, and without the warnings of the call that created it. */
const outcome = ({ worker_id: _worker, waiting_on: _waiting, warnings: _warnings, attempts, ...run }) => ({
  ...run,
  attempts: attempts?.map(({ worker_id: _of, ...attempt }) => attempt),
});

const timeoutMs = 120_000;

/** Repeats the request until the answer fulfils the condition. */
async function until(event, request, isFulfilled) {
  for (const end = Date.now() + timeoutMs; ;) {
    const answer = await request();
    if (isFulfilled(answer)) return answer;
    if (Date.now() > end) throw new Error(`${event}: not within ${timeoutMs / 1_000} s: ${JSON.stringify(answer)}`);
    await sleep(200);
  }
}

const creation = (kind, schedule, expected) => ({
  title: `create a job: ${kind}`,
  round: 1,
  async act(way, ids) {
    const job = await way.create({
      key: `${way.name}-${kind}`,
      task: "greet",
      payload: { name: kind },
      labels: { by: `${way.name}-team`, kind },
      schedule: schedule(),
    });
    ids[kind] = job.id;
    return definition(job);
  },
  expect: { task: "greet", payload: { name: kind }, labels: { kind }, version: 1, schedule: expected },
});

const observation = (kind) => ({
  title: `read a finished run: ${kind}`,
  round: 2,
  async act(way, ids) {
    const ended = await until(
      "a run",
      () => way.runsOf(ids[kind], "finished"),
      (runs) => runs.length > 0,
    );
    const [job, run] = await Promise.all([way.job(ids[kind]), way.run(ended.at(-1).id)]);
    const once = kind === "at" || kind === "delay";
    return { run: outcome(run), ...(once && { status: job.status, embedded: outcome(job.run) }) };
  },
  expect: { run: { status: "succeeded", task: "greet", output: { hello: kind }, error: null } },
});

/** @param {string} signals the folder of the files that tasks wait for @returns {Action[]} */
export function createActions(signals) {
  const signal = (way, name) => `${signals}/${way.name}-${name}`;
  const soon = () => new Date(Date.now() + 2_000).toISOString();
  return [
    creation("cron", () => ({ cron: "* * * * * *", time_zone: "Europe/Paris" }), { cron: "* * * * * *" }),
    creation("every", () => ({ every: "1s" }), { every: "1s" }),
    creation("at", () => ({ at: soon() }), {}),
    creation("delay", () => ({ delay: "1s" }), {}),
    ...["cron", "every", "at", "delay"].map(observation),
    {
      title: "read why a request is refused",
      round: 1,
      act: (way) => way.refused({ task: "greet", schedule: { cron: "61 * * * *" } }),
      expect: { code: "cron_invalid" },
    },
    {
      title: "read why a run failed",
      round: 1,
      async act(way, ids) {
        const job = await way.create({
          key: `${way.name}-charge`,
          task: "charge",
          payload: { account: signal(way, "account") },
          labels: { by: `${way.name}-team` },
          schedule: { cron: "0 3 * * *" },
        });
        ids.charge = job.id;
        await way.runNow(job.id).catch(() => null);
        const [dead] = await until(
          "a dead letter",
          () => way.deadLetters(job.id),
          (letters) => letters.length > 0,
        );
        ids.dead = dead.id;
        const [run, why] = await Promise.all([way.run(dead.id), way.explain(dead.id)]);
        return { run: outcome(run), why };
      },
      expect: {
        run: { status: "failed", error: { type: "NonRetryableError", message: "the account is closed" } },
        why: { status: "failed" },
      },
    },
    {
      title: "retry the dead letter",
      round: 3,
      async act(way, ids) {
        writeFileSync(signal(way, "account"), "");
        const { id, is_new } = await way.retry(ids.dead);
        const isOver = ({ status }) => status === "succeeded" || status === "failed";
        const run = await until("the end", () => way.run(id), isOver);
        return { is_new, run: outcome(run), left: (await way.deadLetters(ids.charge)).length };
      },
      expect: { is_new: true, run: { status: "succeeded", output: { charged: true } }, left: 0 },
    },
    {
      title: "pause",
      round: 3,
      async act(way, ids) {
        const { state, pause } = await way.pause(ids.cron, "maintenance");
        return { state, pause, shown: (await way.job(ids.cron)).status };
      },
      expect: { state: "paused", pause: { reason: "maintenance" }, shown: "paused" },
    },
    {
      title: "resume",
      round: 4,
      async act(way, ids) {
        const { job, dry_run } = await way.resume(ids.cron);
        return { state: job.state, pause: job.pause, dry_run };
      },
      expect: { state: "active", pause: null },
    },
    {
      title: "run now",
      round: 4,
      async act(way, ids) {
        const run = await way.runNow(ids.charge);
        return outcome(run);
      },
      expect: { status: "succeeded", trigger: { kind: "run_now" }, output: { charged: true } },
    },
    {
      title: "backfill",
      round: 5,
      async act(way, ids) {
        const begun = await way.backfill(ids.charge, "2025-01-01T00:00:00Z", "2025-01-03T23:59:59Z");
        const isOver = ({ state }) => state !== "running";
        return until("the end", () => way.backfillState(begun.id), isOver);
      },
      expect: { state: "done", total: 3, made: 3 },
    },
    {
      title: "stream logs",
      round: 2,
      async act(way, ids) {
        const job = await way.create({
          key: `${way.name}-talk`,
          task: "talk",
          payload: { until: signal(way, "talk") },
          schedule: { delay: "1s" },
        });
        const isThere = ({ run }) => run !== undefined && run.status === "running";
        const { run } = await until("the start", () => way.job(job.id), isThere);
        const lines = [];
        // The run ends only after its first line was read here: a stream that returns nothing before the end would never return.
        await way.followLogs(run.id, (line) => {
          lines.push(line);
          writeFileSync(signal(way, "talk"), "");
        });
        ids.talk = job.id;
        return lines;
      },
      expect: [
        { level: "info", message: "first", fields: { step: 1 } },
        { level: "warn", message: "last", fields: { step: 2 } },
      ],
    },
    {
      title: "cancel",
      round: 6,
      async act(way, ids) {
        const ended = await Promise.all(["cron", "every", "charge"].map((kind) => way.cancel(ids[kind])));
        return ended.map(({ state, status, next_run_at }) => ({ state, status, next_run_at }));
      },
      expect: [{ state: "cancelled" }, { state: "cancelled" }, { state: "cancelled" }],
    },
    {
      title: "search by label",
      round: 6,
      async act(way) {
        const jobs = await way.jobsWith(`by=${way.name}-team,kind in (at,delay)`);
        const runs = await way.runsWith(`by=${way.name}-team,kind in (at,delay)`);
        const kindOf = ({ labels }) => labels.kind;
        const inOrder = (found) => found.toSorted((one, other) => (kindOf(one) < kindOf(other) ? -1 : 1));
        return { jobs: inOrder(jobs).map(definition), runs: inOrder(runs).map(outcome) };
      },
      expect: { jobs: { length: 2 }, runs: { length: 2 } },
    },
  ];
}
