import { Type, type Static } from "typebox";
import { NextPageToken, paging } from "./paging.js";
import { Timestamp } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const WorkerState = stringEnum(["active", "cordoned", "draining", "leaving"], {
  description:
    "What was asked of it. cordoned: it is given nothing more; draining: and it is told to end; leaving: and to give back what it has",
});

export const Worker = Type.Object(
  {
    id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    name: Type.String(),
    queues: Type.Array(Type.String(), { description: "* alone stands for every queue" }),
    tasks: Type.Array(Type.String()),
    slots: Type.Integer({ description: "Slots: runs of weight 1 at a time" }),
    labels: Type.Record(Type.String(), Type.String()),
    versions: Type.Record(Type.String(), Type.Array(Type.String()), { description: "By task, those that it has" }),
    weights: Type.Record(Type.String(), Type.Integer(), {
      description: "By task, how many slots a run takes, if not 1",
    }),
    spot: Type.Boolean({ description: "It may go at any time: it gets only runs that allow it" }),
    state: WorkerState,
    in_process: Type.Boolean({ description: "It lives inside a node" }),
    started_at: Timestamp,
    heartbeat_at: Timestamp,
  },
  { title: "Worker", additionalProperties: false },
);

export const WorkerDrain = Type.Object(
  {
    notice: Type.Optional(
      Type.Boolean({
        description:
          "Its machine goes: handlers are told at once, and what has not ended is given back with nothing spent",
      }),
    ),
  },
  { title: "WorkerDrain", additionalProperties: false, examples: [{ notice: true }] },
);

export const WorkerList = Type.Object(
  { workers: Type.Array(Worker), next_page_token: NextPageToken },
  { title: "WorkerList", additionalProperties: false },
);

export const WorkerListQuery = Type.Object({ ...paging }, { additionalProperties: false });

export type WorkerDrain = Static<typeof WorkerDrain>;
export type Worker = Static<typeof Worker>;
export type WorkerList = Static<typeof WorkerList>;
export type WorkerListQuery = Static<typeof WorkerListQuery>;
