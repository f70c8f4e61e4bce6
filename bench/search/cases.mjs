// What is asked for. Values change from round to round, so that a page is not always the one that is warm.
import { parseLabelSelector } from "../../packages/core/dist/index.js";
import { ownerCount, teamCount } from "./fill.mjs";

const hour = 3_600_000;
const ago = (facts, ms) => facts.endMs - ms;
const labels = (text) => ({ labels: parseLabelSelector(text) });
const owner = (n) => ({ owner: `u${(n * 37) % ownerCount}` });

export const runCases = {
  nothing: { filterOf: () => ({}) },
  "nothing, oldest first": { filterOf: () => ({}), order: { oldestFirst: true } },
  "a common task": { filterOf: () => ({ task: "task_0" }) },
  "a rare task": { filterOf: () => ({ task: "task_rare" }) },
  "a task that never was": { filterOf: () => ({ task: "nobody" }) },
  "a common queue": { filterOf: () => ({ queue: "default" }) },
  "a rare queue": { filterOf: () => ({ queue: "rare" }) },
  owner: { filterOf: (n) => owner(n) },
  "status failed": { filterOf: () => ({ status: ["failed"] }) },
  "status cancelled": { filterOf: () => ({ status: ["cancelled"] }) },
  "status succeeded": { filterOf: () => ({ status: ["succeeded"] }) },
  job: { filterOf: (n, { jobIds }) => ({ jobId: jobIds[n % jobIds.length] }) },
  worker: { filterOf: (n, { sessionIds }) => ({ workerId: sessionIds[n % sessionIds.length] }) },
  "a worker of long ago": {
    filterOf: (n, { oldSessionIds }) => ({ workerId: oldSessionIds[n % oldSessionIds.length] }),
  },
  "a common trigger": { filterOf: () => ({ trigger: "schedule" }) },
  "a rare trigger": { filterOf: () => ({ trigger: "run_now" }) },
  "a common label": { filterOf: (n) => labels(`team=t${n % teamCount}`) },
  "a rare label": { filterOf: (n, { rows }) => labels(`order=${((n * 7_919) % Math.floor(rows / 5)) * 5}`) },
  "a label that never was": { filterOf: (n) => labels(`order=none-${n}`) },
  "a rare label, oldest first": {
    filterOf: (n, { rows }) => labels(`order=${((n * 7_919) % Math.floor(rows / 5)) * 5}`),
    order: { oldestFirst: true },
  },
  "owner, oldest first": { filterOf: (n) => owner(n), order: { oldestFirst: true } },
  "a label's absence": { filterOf: () => labels("!team") },
  "labels in a set": { filterOf: () => labels("team in (t1,t2,t3)") },
  "a value of the payload": {
    filterOf: (n) => ({ labels: [{ key: "$.customer.id", isIn: true, among: [`${n * 97}`] }] }),
  },
  "made after": { filterOf: (n, facts) => ({ createdFrom: ago(facts, (n + 1) * hour) }) },
  "made before": { filterOf: (n, facts) => ({ createdBefore: ago(facts, (n + 1) * 5 * hour) }) },
  "made between": {
    filterOf: (n, facts) => ({
      createdFrom: ago(facts, (n + 2) * 5 * hour),
      createdBefore: ago(facts, (n + 1) * 5 * hour),
    }),
  },
  "task and owner": { filterOf: (n) => ({ task: "task_0", ...owner(n) }) },
  "task and failed": { filterOf: () => ({ task: "task_3", status: ["failed"] }) },
  "a rare task and a common label": { filterOf: () => ({ task: "task_rare", ...labels("team=t1") }) },
  "a common task and a common label": { filterOf: () => ({ task: "task_0", ...labels("team=t1") }) },
  "queue, failed and made after": {
    filterOf: (n, facts) => ({ queue: "default", status: ["failed"], createdFrom: ago(facts, (n + 1) * 6 * hour) }),
  },
  "owner, label and time": {
    filterOf: (n, facts) => ({ ...owner(n), ...labels("team=t1"), createdBefore: ago(facts, 24 * hour) }),
  },
  "everything at once": {
    filterOf: (n, facts) => ({
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
  "what never matches": { filterOf: (n) => ({ task: "task_0", queue: "rare", status: ["succeeded"], ...owner(n) }) },
  "nothing, in a small namespace": { namespace: "small", filterOf: () => ({}) },
  "nothing, in a small namespace, oldest first": {
    namespace: "small",
    filterOf: () => ({}),
    order: { oldestFirst: true },
  },
  "status failed, in a small namespace": { namespace: "small", filterOf: () => ({ status: ["failed"] }) },
  "task, in a small namespace": { namespace: "small", filterOf: () => ({ task: "task_49" }) },
  "nothing, in a tiny namespace": { namespace: "tiny", filterOf: () => ({}) },
  "a common queue, in a tiny namespace": { namespace: "tiny", filterOf: () => ({ queue: "default" }) },
  "worker, in a small namespace": {
    namespace: "small",
    filterOf: (n, { sessionIds }) => ({ workerId: sessionIds[n % sessionIds.length] }),
  },
};

/** What totals are asked of. `exact` counts, which is not bounded by the target. */
export const totalCases = {
  "all, estimated": { filterOf: () => ({}), how: "estimate" },
  "owner, estimated": { filterOf: (n) => owner(n), how: "estimate" },
  "task and failed, estimated": { filterOf: () => ({ task: "task_3", status: ["failed"] }), how: "estimate" },
  "label and time, estimated": {
    filterOf: (n, facts) => ({ ...labels("team=t1"), createdFrom: ago(facts, (n + 2) * 24 * hour) }),
    how: "estimate",
  },
  "all, counted": { filterOf: () => ({}), how: "exact" },
  "owner, counted": { filterOf: (n) => owner(n), how: "exact" },
  "a rare task, counted": { filterOf: () => ({ task: "task_rare" }), how: "exact" },
  "a worker of long ago, counted": {
    filterOf: (n, { oldSessionIds }) => ({ workerId: oldSessionIds[n % oldSessionIds.length] }),
    how: "exact",
  },
};

export const jobCases = {
  nothing: { filterOf: () => ({}) },
  "nothing, oldest first": { filterOf: () => ({}), order: { oldestFirst: true } },
  "a common task": { filterOf: () => ({ task: "task_0" }) },
  "a rare task": { filterOf: () => ({ task: "task_rare" }) },
  "a rare queue": { filterOf: () => ({ queue: "rare" }) },
  owner: { filterOf: (n) => owner(n) },
  "a common label": { filterOf: () => labels("team=t1") },
  "a rare label": { filterOf: (n) => labels(`order=${n * 10}`) },
  "status scheduled": { filterOf: () => ({ status: ["scheduled"] }) },
  "status failed": { filterOf: () => ({ status: ["failed"] }) },
  "task, owner and label": { filterOf: (n) => ({ task: "task_1", ...owner(n), ...labels("team=t1") }) },
};
