import { limits, type RunLogLine } from "@carillon/contract";
import type { LinePlace, LogPage, RunLine } from "@carillon/engine";
import type { Handlers } from "./http/call.js";
import { pageTokenOf } from "./http/paging.js";
import type { ApiOptions } from "./http/handler.js";
import { timestamp } from "./timestamp.js";
import { idOrNotFound, notFound } from "./references.js";
import { pageRequest } from "./http/list-page.js";

const placePattern = /^(\d{1,15})\.(\d{1,9})$/;
const readPlace = (text: string): string | null => (placePattern.test(text) ? text : null);

export function runLogHandlers({ engine }: ApiOptions): Pick<Handlers, "listRunLogs"> {
  return {
    async listRunLogs({ params, query, namespace, signal }) {
      const id = idOrNotFound("run", params.id);
      const { level, follow } = query;
      const list = ["logs", namespace, id, level ?? null];
      const { pageSize, after } = pageRequest(query, list, readPlace);
      const place = placeOf(after);
      const isFollowing = follow === "true";
      const page = await engine.readLogs(namespace, id, {
        pageSize,
        after: place,
        ...(level !== undefined && { level }),
        ...(isFollowing && { waitMs: limits.followMs }),
        ...(signal !== undefined && { signal }),
      });
      if (page === null) throw notFound(`There is no run ${params.id}.`);
      const next = nextPlace(page, place, isFollowing);
      const token = next === null ? null : pageTokenOf(`${next.fence}.${next.number}`, list);
      return { status: 200, body: { lines: page.lines.map(wireLine), next_page_token: token } };
    },
  };
}

/** Who follows is told where to go on until nothing more will come. */
function nextPlace({ lines, hasMore, isEnd }: LogPage, after: LinePlace, isFollowing: boolean): LinePlace | null {
  const isOver = isFollowing ? isEnd : !hasMore;
  return isOver ? null : (lines.at(-1) ?? after);
}

function placeOf(text = "0.0"): LinePlace {
  const [, fence, number] = placePattern.exec(text) ?? [];
  return { fence: Number(fence), number: Math.min(Number(number), 2_147_483_647) };
}

function wireLine({ at, level, message, fields, fence, number }: RunLine): RunLogLine {
  return { at: timestamp(at), level, message, fields: fields ?? null, fence, number };
}
