import { type BulkOperation, readBulk } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { OperationView } from "@carillon/engine";
import { found } from "./http/errors.js";
import {
  type ApiOptions,
  type ApiResponse,
  contextOf,
  contextWithReceipt,
  handlers,
  ok,
  type Replays,
  timestamp,
  timestampOrNull,
} from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { idOrNotFound, withJobIdInFilter } from "./http/request.js";

const operationList = listOf("operations", toOperationJson);

export function operationHandlers({ engine }: ApiOptions) {
  return handlers({
    async bulkRuns(call) {
      const { dryRun, ...request } = readBulk(await withJobIdInFilter(engine, call.namespace, call.body));
      if (!dryRun)
        return startedOperation(await engine.operations.start(call.namespace, request, contextWithReceipt(call)));
      const { count, isLowerBound } = await engine.operations.count(call.namespace, request);
      return ok({ count, is_least: isLowerBound, dry_run: true });
    },
    listOperations: ({ query, namespace }) =>
      operationList(query, [namespace], (page) => engine.operations.list(namespace, page)),
    async getOperation({ params, namespace }) {
      return shown(await engine.operations.get(namespace, idOrNotFound("op", params.id)), params.id);
    },
    async abortOperation(call) {
      const { params, namespace } = call;
      return shown(await engine.operations.abort(namespace, idOrNotFound("op", params.id), contextOf(call)), params.id);
    },
  });
}

/** The response to a repeated call whose first response was not stored. */
export function operationReplays({ engine }: ApiOptions): Replays {
  return {
    async bulkRuns({ operation = "" }, { namespace }) {
      const view = await engine.operations.get(namespace, operation);
      return startedOperation(found(view, "The operation no longer exists."));
    },
  };
}

export function startedOperation(operation: OperationView): ApiResponse {
  const body = toOperationJson(operation);
  return { status: 202, body, headers: { Location: `/v1/operations/${body.id}` } };
}

function shown(operation: OperationView | null, id: string): ApiResponse {
  return ok(toOperationJson(found(operation, `There is no operation ${id}.`)));
}

function toOperationJson(operation: OperationView): BulkOperation {
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
