import type { Backfills } from "./backfills/backfills.js";
import type { Namespaces } from "./catalog/namespaces.js";
import type { Queues } from "./catalog/queues.js";
import type { Tasks } from "./catalog/tasks.js";
import type { ClusterStatus } from "./cluster/cluster-status.js";
import type { DeadLetters } from "./dead-letters/dead-letters.js";
import type { Explanations } from "./explain/explanations.js";
import type { Forecasts } from "./forecast/forecasts.js";
import type { Operations } from "./operations/operations.js";
import type { CallbackSecrets } from "./webhooks/callback-secrets.js";
import type { Webhooks } from "./webhooks/webhooks.js";

// The calls of the noun classes under the flat names by which server and SDK still call them.

export interface QueueCalls {
  readonly listQueues: Queues["list"];
  readonly getQueue: Queues["get"];
  readonly changeQueue: Queues["change"];
  readonly pauseQueue: Queues["pause"];
  readonly resumeQueue: Queues["resume"];
  readonly queueStats: Queues["stats"];
  readonly manyQueueStats: Queues["statsOfMany"];
}

export const queueCalls = (queues: Queues): QueueCalls => ({
  listQueues: (...args) => queues.list(...args),
  getQueue: (...args) => queues.get(...args),
  changeQueue: (...args) => queues.change(...args),
  pauseQueue: (...args) => queues.pause(...args),
  resumeQueue: (...args) => queues.resume(...args),
  queueStats: (...args) => queues.stats(...args),
  manyQueueStats: (...args) => queues.statsOfMany(...args),
});

export interface NamespaceCalls {
  readonly listNamespaces: Namespaces["list"];
  readonly getNamespace: Namespaces["get"];
  readonly createNamespace: Namespaces["create"];
  readonly changeNamespace: Namespaces["change"];
}

export const namespaceCalls = (namespaces: Namespaces): NamespaceCalls => ({
  listNamespaces: (...args) => namespaces.list(...args),
  getNamespace: (...args) => namespaces.get(...args),
  createNamespace: (...args) => namespaces.create(...args),
  changeNamespace: (...args) => namespaces.change(...args),
});

export interface TaskCalls {
  readonly listTasks: Tasks["list"];
  readonly getTask: Tasks["get"];
  readonly defaultsOf: Tasks["defaultsOf"];
  readonly cluster: ClusterStatus["get"];
}

export const taskCalls = (tasks: Tasks, cluster: ClusterStatus): TaskCalls => ({
  listTasks: (...args) => tasks.list(...args),
  getTask: (...args) => tasks.get(...args),
  defaultsOf: (...args) => tasks.defaultsOf(...args),
  cluster: () => cluster.get(),
});

export interface ExplanationCalls {
  readonly explainRun: Explanations["run"];
  readonly explain: Explanations["runView"];
  readonly explainJob: Explanations["job"];
}

export const explanationCalls = (explanations: Explanations): ExplanationCalls => ({
  explainRun: (...args) => explanations.run(...args),
  explain: (...args) => explanations.runView(...args),
  explainJob: (...args) => explanations.job(...args),
});

export interface ForecastCalls {
  readonly forecast: Forecasts["get"];
  readonly firesAt: Forecasts["firesAt"];
}

export const forecastCalls = (forecasts: Forecasts): ForecastCalls => ({
  forecast: (...args) => forecasts.get(...args),
  firesAt: (...args) => forecasts.firesAt(...args),
});

export interface BackfillCalls {
  readonly countBackfill: Backfills["count"];
  readonly startBackfill: Backfills["start"];
  readonly getBackfill: Backfills["get"];
  readonly listBackfills: Backfills["list"];
  readonly abortBackfill: Backfills["abort"];
}

export const backfillCalls = (backfills: Backfills): BackfillCalls => ({
  countBackfill: (...args) => backfills.count(...args),
  startBackfill: (...args) => backfills.start(...args),
  getBackfill: (...args) => backfills.get(...args),
  listBackfills: (...args) => backfills.list(...args),
  abortBackfill: (...args) => backfills.abort(...args),
});

export interface OperationCalls {
  readonly startBulk: Operations["start"];
  readonly countBulk: Operations["count"];
  readonly purgeQueue: Operations["purgeQueue"];
  readonly countPurge: Operations["countPurge"];
  readonly getOperation: Operations["get"];
  readonly listOperations: Operations["list"];
  readonly abortOperation: Operations["abort"];
}

export const operationCalls = (operations: Operations): OperationCalls => ({
  startBulk: (...args) => operations.start(...args),
  countBulk: (...args) => operations.count(...args),
  purgeQueue: (...args) => operations.purgeQueue(...args),
  countPurge: (...args) => operations.countPurge(...args),
  getOperation: (...args) => operations.get(...args),
  listOperations: (...args) => operations.list(...args),
  abortOperation: (...args) => operations.abort(...args),
});

export interface DeadLetterCalls {
  readonly listDeadLetters: DeadLetters["list"];
  readonly redrivesOf: DeadLetters["redrivesOf"];
  readonly redrive: DeadLetters["redrive"];
  readonly discard: DeadLetters["discard"];
  readonly discardRun: DeadLetters["discardRun"];
  readonly retryRun: DeadLetters["retryRun"];
  readonly replayRun: DeadLetters["replayRun"];
  readonly listErrorGroups: DeadLetters["listErrorGroups"];
  readonly getErrorGroup: DeadLetters["getErrorGroup"];
}

export const deadLetterCalls = (deadLetters: DeadLetters): DeadLetterCalls => ({
  listDeadLetters: (...args) => deadLetters.list(...args),
  redrivesOf: (...args) => deadLetters.redrivesOf(...args),
  redrive: (...args) => deadLetters.redrive(...args),
  discard: (...args) => deadLetters.discard(...args),
  discardRun: (...args) => deadLetters.discardRun(...args),
  retryRun: (...args) => deadLetters.retryRun(...args),
  replayRun: (...args) => deadLetters.replayRun(...args),
  listErrorGroups: (...args) => deadLetters.listErrorGroups(...args),
  getErrorGroup: (...args) => deadLetters.getErrorGroup(...args),
});

export interface WebhookCalls {
  readonly createWebhook: Webhooks["create"];
  readonly getWebhook: Webhooks["get"];
  readonly listWebhooks: Webhooks["list"];
  readonly changeWebhook: Webhooks["change"];
  readonly rotateWebhookSecret: Webhooks["rotateSecret"];
  readonly deleteWebhook: Webhooks["delete"];
  readonly testWebhook: Webhooks["test"];
  readonly listDeliveries: Webhooks["deliveries"];
  readonly getDelivery: Webhooks["getDelivery"];
  readonly redeliver: Webhooks["redeliver"];
  readonly webhookTarget: Webhooks["target"];
  readonly noteDelivery: Webhooks["noteDelivery"];
  readonly getCallbackSecret: CallbackSecrets["get"];
  readonly rotateCallbackSecret: CallbackSecrets["rotate"];
  readonly callbackSecrets: CallbackSecrets["signing"];
}

export const webhookCalls = (webhooks: Webhooks, secrets: CallbackSecrets): WebhookCalls => ({
  createWebhook: (...args) => webhooks.create(...args),
  getWebhook: (...args) => webhooks.get(...args),
  listWebhooks: (...args) => webhooks.list(...args),
  changeWebhook: (...args) => webhooks.change(...args),
  rotateWebhookSecret: (...args) => webhooks.rotateSecret(...args),
  deleteWebhook: (...args) => webhooks.delete(...args),
  testWebhook: (...args) => webhooks.test(...args),
  listDeliveries: (...args) => webhooks.deliveries(...args),
  getDelivery: (...args) => webhooks.getDelivery(...args),
  redeliver: (...args) => webhooks.redeliver(...args),
  webhookTarget: (...args) => webhooks.target(...args),
  noteDelivery: (...args) => webhooks.noteDelivery(...args),
  getCallbackSecret: (...args) => secrets.get(...args),
  rotateCallbackSecret: (...args) => secrets.rotate(...args),
  callbackSecrets: (...args) => secrets.signing(...args),
});
