import { type BulkOperation, readBulk } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { OperationView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { timestamp, timestampOrNull } from "./timestamp.js";
import { contextOf, keptContextOf } from "./job-changes.js";
import { withJobIdInside } from "./job-by-key.js";
import { idOrNotFound, notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type OperationHandlers = Pick<Handlers, "bulkRuns" | "listOperations" | "getOperation" | "abortOperation">;

export function operationHandlers({ engine }: ApiOptions): OperationHandlers {
  return {
    async bulkRuns(call) {
      const { dryRun, ...request } = readBulk(await withJobIdInside(engine, call.namespace, call.body));
      if (!dryRun) return startedOperation(await engine.startBulk(call.namespace, request, keptContextOf(call)));
      const { count, isLeast } = await engine.countBulk(call.namespace, request);
      return { status: 200, body: { count, is_least: isLeast, dry_run: true } };
    },
    async listOperations({ query, namespace }) {
      const list = ["operations", namespace];
      const page = await engine.listOperations(namespace, pageRequest(query, list));
      const body = { operations: page.rows.map(wireOperation), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getOperation({ params, namespace }) {
      return shown(await engine.getOperation(namespace, idOrNotFound("op", params.id)), params.id);
    },
    async abortOperation(call) {
      const { params, namespace } = call;
      return shown(await engine.abortOperation(namespace, idOrNotFound("op", params.id), contextOf(call)), params.id);
    },
  };
}

export function startedOperation(operation: OperationView): CallAnswer {
  const body = wireOperation(operation);
  return { status: 202, body, headers: { Location: `/v1/operations/${body.id}` } };
}

function shown(operation: OperationView | null, id: string): CallAnswer {
  if (operation === null) throw notFound(`There is no operation ${id}.`);
  return { status: 200, body: wireOperation(operation) };
}

function wireOperation(operation: OperationView): BulkOperation {
  const { action, target, state, stateReason, seen, done, failed, failures, actor } = operation;
  return {
    id: formatId("op", operation.id),
    action,
    state,
    state_reason: stateReason,
    total: "ids" in target ? target.ids.length : null,
    seen,
    done,
    failed,
    skipped: seen - done - failed,
    failures: failures.map(({ id, code, detail }) => ({ id: formatId("run", id), code, detail })),
    actor,
    created_at: timestamp(operation.createdAt),
    updated_at: timestamp(operation.updatedAt),
    finished_at: timestampOrNull(operation.finishedAt),
  };
}
