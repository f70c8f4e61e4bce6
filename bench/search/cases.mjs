// The filters. Values change from round to round, so that not every page is warm.
import { parseLabelSelector } from "../../packages/core/dist/index.js";
import { ownerCount, teamCount } from "./fill.mjs";

const hour = 3_600_000;
const ago = (facts, ms) => facts.endMs - ms;
const labels = (text) => ({ labels: parseLabelSelector(text) });
const owner = (n) => ({ owner: `u${(n * 37) % ownerCount}` });

export const runCases = {
  "no filter": { toFilter: () => ({}) },
  "no filter, oldest first": { toFilter: () => ({}), order: { oldestFirst: true } },
  "a common task": { toFilter: () => ({ task: "task_0" }) },
  "a rare task": { toFilter: () => ({ task: "task_rare" }) },
  "an unknown task": { toFilter: () => ({ task: "unknown" }) },
  "a common queue": { toFilter: () => ({ queue: "default" }) },
  "a rare queue": { toFilter: () => ({ queue: "rare" }) },
  owner: { toFilter: (n) => owner(n) },
  "status failed": { toFilter: () => ({ status: ["failed"] }) },
  "status cancelled": { toFilter: () => ({ status: ["cancelled"] }) },
  "status succeeded": { toFilter: () => ({ status: ["succeeded"] }) },
  job: { toFilter: (n, { jobIds }) => ({ jobId: jobIds[n % jobIds.length] }) },
  worker: { toFilter: (n, { sessionIds }) => ({ workerId: sessionIds[n % sessionIds.length] }) },
  "an old worker": {
    toFilter: (n, { oldSessionIds }) => ({ workerId: oldSessionIds[n % oldSessionIds.length] }),
  },
  "a common trigger": { toFilter: () => ({ trigger: "schedule" }) },
  "a rare trigger": { toFilter: () => ({ trigger: "run_now" }) },
  "a common label": { toFilter: (n) => labels(`team=t${n % teamCount}`) },
  "a rare label": { toFilter: (n, { rows }) => labels(`order=${((n * 7_919) % Math.floor(rows / 5)) * 5}`) },
  "an unknown label": { toFilter: (n) => labels(`order=none-${n}`) },
  "a rare label, oldest first": {
    toFilter: (n, { rows }) => labels(`order=${((n * 7_919) % Math.floor(rows / 5)) * 5}`),
    order: { oldestFirst: true },
  },
  "owner, oldest first": { toFilter: (n) => owner(n), order: { oldestFirst: true } },
  "an absent label": { toFilter: () => labels("!team") },
  "labels in a set": { toFilter: () => labels("team in (t1,t2,t3)") },
  "a value of the payload": {
    toFilter: (n) => ({ labels: [{ key: "$.customer.id", isIn: true, among: [`${n * 97}`] }] }),
  },
  "created after": { toFilter: (n, facts) => ({ createdFrom: ago(facts, (n + 1) * hour) }) },
  "created before": { toFilter: (n, facts) => ({ createdBefore: ago(facts, (n + 1) * 5 * hour) }) },
  "created between": {
    toFilter: (n, facts) => ({
      createdFrom: ago(facts, (n + 2) * 5 * hour),
      createdBefore: ago(facts, (n + 1) * 5 * hour),
    }),
  },
  "task and owner": { toFilter: (n) => ({ task: "task_0", ...owner(n) }) },
  "task and failed": { toFilter: () => ({ task: "task_3", status: ["failed"] }) },
  "a rare task and a common label": { toFilter: () => ({ task: "task_rare", ...labels("team=t1") }) },
  "a common task and a common label": { toFilter: () => ({ task: "task_0", ...labels("team=t1") }) },
  "queue, failed and created after": {
    toFilter: (n, facts) => ({ queue: "default", status: ["failed"], createdFrom: ago(facts, (n + 1) * 6 * hour) }),
  },
  "owner, label and time": {
    toFilter: (n, facts) => ({ ...owner(n), ...labels("team=t1"), createdBefore: ago(facts, 24 * hour) }),
  },
  "all filters": {
    toFilter: (n, facts) => ({
      task: "task_1",
      queue: "default",
      status: ["failed", "succeeded"],
      trigger: "once",
      createdFrom: ago(facts, 200 * hour),
      createdBefore: ago(facts, hour),
      ...owner(n),
      ...labels("team=t1,order"),
    }),
  },
  "a filter without matches": {
    toFilter: (n) => ({ task: "task_0", queue: "rare", status: ["succeeded"], ...owner(n) }),
  },
  "no filter, in a small namespace": { namespace: "small", toFilter: () => ({}) },
  "no filter, in a small namespace, oldest first": {
    namespace: "small",
    toFilter: () => ({}),
    order: { oldestFirst: true },
  },
  "status failed, in a small namespace": { namespace: "small", toFilter: () => ({ status: ["failed"] }) },
  "task, in a small namespace": { namespace: "small", toFilter: () => ({ task: "task_49" }) },
  "no filter, in a tiny namespace": { namespace: "tiny", toFilter: () => ({}) },
  "a common queue, in a tiny namespace": { namespace: "tiny", toFilter: () => ({ queue: "default" }) },
  "worker, in a small namespace": {
    namespace: "small",
    toFilter: (n, { sessionIds }) => ({ workerId: sessionIds[n % sessionIds.length] }),
  },
};

/** The filters of totals. `exact` counts rows and has no target. */
export const totalCases = {
  "all, estimated": { toFilter: () => ({}), how: "estimate" },
  "owner, estimated": { toFilter: (n) => owner(n), how: "estimate" },
  "task and failed, estimated": { toFilter: () => ({ task: "task_3", status: ["failed"] }), how: "estimate" },
  "label and time, estimated": {
    toFilter: (n, facts) => ({ ...labels("team=t1"), createdFrom: ago(facts, (n + 2) * 24 * hour) }),
    how: "estimate",
  },
  "all, counted": { toFilter: () => ({}), how: "exact" },
  "owner, counted": { toFilter: (n) => owner(n), how: "exact" },
  "a rare task, counted": { toFilter: () => ({ task: "task_rare" }), how: "exact" },
  "an old worker, counted": {
    toFilter: (n, { oldSessionIds }) => ({ workerId: oldSessionIds[n % oldSessionIds.length] }),
    how: "exact",
  },
};

export const jobCases = {
  "no filter": { toFilter: () => ({}) },
  "no filter, oldest first": { toFilter: () => ({}), order: { oldestFirst: true } },
  "a common task": { toFilter: () => ({ task: "task_0" }) },
  "a rare task": { toFilter: () => ({ task: "task_rare" }) },
  "a rare queue": { toFilter: () => ({ queue: "rare" }) },
  owner: { toFilter: (n) => owner(n) },
  "a common label": { toFilter: () => labels("team=t1") },
  "a rare label": { toFilter: (n) => labels(`order=${n * 10}`) },
  "status scheduled": { toFilter: () => ({ status: ["scheduled"] }) },
  "status failed": { toFilter: () => ({ status: ["failed"] }) },
  "task, owner and label": { toFilter: (n) => ({ task: "task_1", ...owner(n), ...labels("team=t1") }) },
};
