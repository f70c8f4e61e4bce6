// What is done, the same by every way. An action answers what is compared; `expect` says what must be in it.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {object} Action
 * @property {string} title
 * @property {number} round those of one round are done at the same time
 * @property {(way: any, kept: any) => Promise<unknown>} act `kept` is what earlier actions of this way left
 * @property {object} expect a part of what it answers
 */

const defined = "key task payload schedule labels retry overlap misfire queue description version".split(" ");

/** What a job is, without what becomes of it meanwhile. */
const definition = (job) => Object.fromEntries(defined.map((name) => [name, job[name]]));

/** A run without the place where it was run. */
const outcome = ({ worker_id: _worker, waiting_on: _waiting, attempts, ...run }) => ({
  ...run,
  attempts: attempts?.map(({ worker_id: _of, ...attempt }) => attempt),
});

const patienceMs = 120_000;

/** Asks until it is so. */
async function until(what, ask, isSo) {
  for (const end = Date.now() + patienceMs; ;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > end) throw new Error(`${what}: not within ${patienceMs / 1_000} s: ${JSON.stringify(answer)}`);
    await sleep(200);
  }
}

const creation = (kind, schedule, expected) => ({
  title: `create a job: ${kind}`,
  round: 1,
  async act(way, kept) {
    const job = await way.create({
      key: `${way.name}-${kind}`,
      task: "greet",
      payload: { name: kind },
      labels: { by: `${way.name}-team`, kind },
      schedule: schedule(),
    });
    kept[kind] = job.id;
    return definition(job);
  },
  expect: { task: "greet", payload: { name: kind }, labels: { kind }, version: 1, schedule: expected },
});

const sight = (kind) => ({
  title: `see it run: ${kind}`,
  round: 2,
  async act(way, kept) {
    const ended = await until(
      "a run",
      () => way.runsOf(kept[kind], "finished"),
      (runs) => runs.length > 0,
    );
    const [job, run] = await Promise.all([way.job(kept[kind]), way.run(ended.at(-1).id)]);
    const once = kind === "at" || kind === "delay";
    return { run: outcome(run), ...(once && { status: job.status, embedded: outcome(job.run) }) };
  },
  expect: { run: { status: "succeeded", task: "greet", output: { hello: kind }, error: null } },
});

/** @param {string} marks the folder of the files that tasks look for @returns {Action[]} */
export function actionsOf(marks) {
  const mark = (way, name) => `${marks}/${way.name}-${name}`;
  const soon = () => new Date(Date.now() + 2_000).toISOString();
  return [
    creation("cron", () => ({ cron: "* * * * * *", time_zone: "Europe/Paris" }), { cron: "* * * * * *" }),
    creation("every", () => ({ every: "1s" }), { every: "1s" }),
    creation("at", () => ({ at: soon() }), {}),
    creation("delay", () => ({ delay: "1s" }), {}),
    ...["cron", "every", "at", "delay"].map(sight),
    {
      title: "be refused, and read why",
      round: 1,
      act: (way) => way.refused({ task: "greet", schedule: { cron: "61 * * * *" } }),
      expect: { code: "cron_invalid" },
    },
    {
      title: "break one, and read why",
      round: 1,
      async act(way, kept) {
        const job = await way.create({
          key: `${way.name}-charge`,
          task: "charge",
          payload: { account: mark(way, "account") },
          labels: { by: `${way.name}-team` },
          schedule: { cron: "0 3 * * *" },
        });
        kept.charge = job.id;
        await way.runNow(job.id).catch(() => null);
        const [dead] = await until(
          "a dead letter",
          () => way.deadLetters(job.id),
          (letters) => letters.length > 0,
        );
        kept.dead = dead.id;
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
      async act(way, kept) {
        writeFileSync(mark(way, "account"), "");
        const { id, is_new } = await way.retry(kept.dead);
        const isOver = ({ status }) => status === "succeeded" || status === "failed";
        const run = await until("the end", () => way.run(id), isOver);
        return { is_new, run: outcome(run), left: (await way.deadLetters(kept.charge)).length };
      },
      expect: { is_new: true, run: { status: "succeeded", output: { charged: true } }, left: 0 },
    },
    {
      title: "pause",
      round: 3,
      async act(way, kept) {
        const { state, pause } = await way.pause(kept.cron, "a look");
        return { state, pause, shown: (await way.job(kept.cron)).status };
      },
      expect: { state: "paused", pause: { reason: "a look" }, shown: "paused" },
    },
    {
      title: "resume",
      round: 4,
      async act(way, kept) {
        const { job, dry_run } = await way.resume(kept.cron);
        return { state: job.state, pause: job.pause, dry_run };
      },
      expect: { state: "active", pause: null },
    },
    {
      title: "run now",
      round: 4,
      async act(way, kept) {
        const run = await way.runNow(kept.charge);
        return outcome(run);
      },
      expect: { status: "succeeded", trigger: { kind: "run_now" }, output: { charged: true } },
    },
    {
      title: "backfill",
      round: 5,
      async act(way, kept) {
        const begun = await way.backfill(kept.charge, "2025-01-01T00:00:00Z", "2025-01-03T23:59:59Z");
        const isOver = ({ state }) => state !== "running";
        return until("the end", () => way.backfillState(begun.id), isOver);
      },
      expect: { state: "done", total: 3, made: 3 },
    },
    {
      title: "stream logs",
      round: 2,
      async act(way, kept) {
        const job = await way.create({
          key: `${way.name}-talk`,
          task: "talk",
          payload: { until: mark(way, "talk") },
          schedule: { delay: "1s" },
        });
        const isThere = ({ run }) => run !== undefined && run.status === "running";
        const { run } = await until("the start", () => way.job(job.id), isThere);
        const lines = [];
        // The run goes on only when its first line has come: a stream that waits for the end would wait for ever.
        await way.followLogs(run.id, (line) => {
          lines.push(line);
          writeFileSync(mark(way, "talk"), "");
        });
        kept.talk = job.id;
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
      async act(way, kept) {
        const ended = await Promise.all(["cron", "every", "charge"].map((kind) => way.cancel(kept[kind])));
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
