import { readHeartbeat, readNotes, readPoll, readRegistration, readRelease, workerLimits } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { polledJson, wireClaim, wireNoteAnswer } from "./wire/worker-protocol.js";
import { idOrNotFound } from "./references.js";

type ProtocolHandlers = Pick<
  Handlers,
  "registerWorker" | "pollWorker" | "heartbeatWorker" | "noteRuns" | "releaseRuns" | "closeWorker"
>;

/** A worker is heard of so often within the time after which it is taken for dead. */
const beatsPerSilence = 5;
/** And one that has no runs. It is said to live for two thirds of that time after its last word (LastWord). */
const idleBeatsPerSilence = 2;
const jsonType = "application/json; charset=utf-8";

export function workerProtocolHandlers({ workers, refuseTarget }: ApiOptions): ProtocolHandlers {
  return {
    async registerWorker({ body, namespace }) {
      const { spot: isSpot = false, ...worker } = readRegistration(body, refuseTarget);
      const id = await workers.register({ ...worker, isSpot, namespace });
      const silenceMs = workers.silenceMs;
      const answer = {
        id: formatId("wrk", id),
        heartbeat_ms: Math.round(silenceMs / beatsPerSilence),
        idle_heartbeat_ms: Math.round(silenceMs / idleBeatsPerSilence),
        silence_ms: silenceMs,
        poll_ms: workerLimits.pollMs,
      };
      return { status: 201, body: answer };
    },
    async pollWorker({ params, body, signal, namespace }) {
      const id = idOrNotFound("wrk", params.id);
      const request = readPoll(body);
      const answer = await workers.poll(namespace, id, signal === undefined ? request : { ...request, signal });
      return { status: 200, body: polledJson(request.completions, answer), contentType: jsonType };
    },
    async heartbeatWorker({ params, body, namespace }) {
      const lost = await workers.hear(namespace, idOrNotFound("wrk", params.id), readHeartbeat(body));
      return { status: 200, body: { lost: lost.map(wireClaim) } };
    },
    async noteRuns({ params, body, namespace }) {
      const answers = await workers.note(namespace, idOrNotFound("wrk", params.id), readNotes(body));
      return { status: 200, body: { answers: answers.map(wireNoteAnswer) } };
    },
    async releaseRuns({ params, body, namespace }) {
      await workers.giveBack(namespace, idOrNotFound("wrk", params.id), readRelease(body));
      return { status: 204 };
    },
    async closeWorker({ params, namespace }) {
      await workers.close(namespace, idOrNotFound("wrk", params.id));
      return { status: 204 };
    },
  };
}
