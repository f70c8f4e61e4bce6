import { type RunLogLine, limits } from "@carillon/contract";
import type { LinePlace, LogPage, RunLine } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, handlers, ok } from "./http/handler.js";
import { pageRequest, pageTokenOf } from "./http/paging.js";
import { idOrNotFound } from "./references.js";
import { timestamp } from "./timestamp.js";

const positionPattern = /^(\d{1,15})\.(\d{1,9})$/;
const readPosition = (text: string): string | null => (positionPattern.test(text) ? text : null);

export function runLogHandlers({ engine }: ApiOptions) {
  return handlers({
    async listRunLogs({ params, query, namespace, signal }) {
      const id = idOrNotFound("run", params.id);
      const { level, follow } = query;
      const list = ["logs", namespace, id, level ?? null];
      const { pageSize, after } = pageRequest(query, list, readPosition);
      const position = positionOf(after);
      const isFollowing = follow === "true";
      const logs = await engine.runs.logs(namespace, id, {
        pageSize,
        after: position,
        ...(level !== undefined && { level }),
        ...(isFollowing && { waitMs: limits.followMs }),
        ...(signal !== undefined && { signal }),
      });
      const page = found(logs, `There is no run ${params.id}.`);
      const next = nextPosition(page, position, isFollowing);
      const token = next === null ? null : pageTokenOf(`${next.fence}.${next.number}`, list);
      return ok({ lines: page.lines.map(toLineJson), next_page_token: token });
    },
  });
}

/** A caller that follows gets a next page until the run has ended; another caller while lines are left. */
function nextPosition({ lines, hasMore, isEnd }: LogPage, after: LinePlace, isFollowing: boolean): LinePlace | null {
  const isLastPage = isFollowing ? isEnd : !hasMore;
  return isLastPage ? null : (lines.at(-1) ?? after);
}

function positionOf(text = "0.0"): LinePlace {
  const [, fence, number] = positionPattern.exec(text) ?? [];
  return { fence: Number(fence), number: Math.min(Number(number), 2_147_483_647) };
}

function toLineJson({ at, level, message, fields, fence, number }: RunLine): RunLogLine {
  return { at: timestamp(at), level, message, fields: fields ?? null, fence, number };
}
