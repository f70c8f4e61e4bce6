import { Type } from "typebox";
import { Event, EventQuery, EventReset } from "../schema/event.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

export const streamEvents = {
  method: "GET",
  path: "/v1/events",
  tag: "Events",
  summary: "Follow what happens",
  description:
    "Server-sent events: the name of each is its type, its data an Event. They are hints from the memory of the node, not a record: " +
    "after a reset, which comes where some may have been missed, read again what you follow. Last-Event-ID continues where a " +
    "connection broke off, if the node still remembers. A comment comes every 15 s; who does not read is cut off.",
  permission: "runs:read",
  rateClass: "stream",
  query: EventQuery,
  streams: true,
  answers: {
    200: {
      description: "Events as they come",
      schema: Type.String({ contentSchema: Type.Union([Event, EventReset]) }),
      contentType: "text/event-stream",
    },
  },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;
