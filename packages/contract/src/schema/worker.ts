import { Type, type Static } from "typebox";
import { NextPageToken, paging } from "./paging.js";
import { Timestamp } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const WorkerState = stringEnum(["active", "cordoned", "draining"], {
  description: "What was asked of it. cordoned: it is given nothing more; draining: and it is told to end",
});

export const Worker = Type.Object(
  {
    id: Type.String({ examples: ["wrk_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    name: Type.String(),
    queues: Type.Array(Type.String(), { description: "* alone stands for every queue" }),
    tasks: Type.Array(Type.String()),
    slots: Type.Integer({ description: "Runs at a time" }),
    state: WorkerState,
    in_process: Type.Boolean({ description: "It lives inside a node" }),
    started_at: Timestamp,
    heartbeat_at: Timestamp,
  },
  { title: "Worker", additionalProperties: false },
);

export const WorkerList = Type.Object(
  { workers: Type.Array(Worker), next_page_token: NextPageToken },
  { title: "WorkerList", additionalProperties: false },
);

export const WorkerListQuery = Type.Object({ ...paging }, { additionalProperties: false });

export type Worker = Static<typeof Worker>;
export type WorkerList = Static<typeof WorkerList>;
export type WorkerListQuery = Static<typeof WorkerListQuery>;
