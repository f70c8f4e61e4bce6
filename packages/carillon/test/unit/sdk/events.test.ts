import { openApiDocument } from "@carillon/contract";
import { type EventField, eventList, type EventType, eventTypes, unknownEventText } from "@carillon/core";
import type { EngineEvent } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { toPublicEvent } from "../../../../server/src/events/public-event.js";
import { carillon } from "../../../src/index.js";
import { appEventTypes, shownEvent } from "../../../src/sdk/app-events.js";

const uuid = "01890000-0000-7000-8000-000000000001";

/** An event of this type as the engine emits it. */
function sampleOf(type: EventType): EngineEvent {
  const fields = Object.entries<EventField>(eventList[type].fields).map(([name, { form }]) => {
    if (form === "plain") return [name, "x"];
    return [name, form === "instant" || form === "milliseconds" ? 1_500.4 : uuid];
  });
  return { type, namespaceId: 1, ...Object.fromEntries(fields) } as EngineEvent;
}

interface Schema {
  readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
}

const { schemas } = openApiDocument("0").components as unknown as { readonly schemas: { readonly Event: Schema } };
const wireFields = schemas.Event.properties;

describe("the list of events", () => {
  it("has the types of events that the OpenAPI document names, and no others", () => {
    expect(wireFields["type"]?.enum).toEqual(eventTypes);
  });

  it("has the fields of events that the OpenAPI document names, and no others", () => {
    const sent = eventTypes.flatMap((type) => Object.keys(toPublicEvent(sampleOf(type), 0)?.event ?? {}));
    expect([...new Set(sent)].sort()).toEqual(Object.keys(wireFields).sort());
  });

  it.each(eventTypes)("gives %s the same fields in app.on() and, in snake case, in GET /v1/events", (type) => {
    const { type: _type, at: _at, ...sent } = toPublicEvent(sampleOf(type), 0)?.event ?? { at: "" };
    const { type: name, ...shown } = shownEvent(sampleOf(type));
    expect(name).toBe(type);
    const inSnakeCase = Object.keys(shown).map((field) => field.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
    expect(Object.keys(sent)).toEqual(inSnakeCase);
  });

  it("is a part of the events that app.on() accepts", () => {
    expect(appEventTypes.slice(0, eventTypes.length)).toEqual(eventTypes);
    expect(new Set(appEventTypes).size).toBe(appEventTypes.length);
  });

  it("keeps the diagnostic events of the engine out of GET /v1/events", () => {
    expect(toPublicEvent({ type: "loop.failed", loop: "rescuer", error: null }, 0)).toBeNull();
    expect(toPublicEvent({ type: "node.lost", nodeId: uuid, name: "a", detection: "lease_expired" }, 0)).toBeNull();
  });
});

describe("app.on()", () => {
  it("accepts every event of the list and of its process", () => {
    const app = carillon({ databaseUrl: "postgres://127.0.0.1:1/none" });
    expect(() => app.on([...eventTypes, "loop.failed", "database.down"], () => undefined)).not.toThrow();
  });

  it("refuses an unknown name and suggests the most similar event, or those of its group", () => {
    const app = carillon({ databaseUrl: "postgres://127.0.0.1:1/none" });
    const on = (name: string) => () => app.on(name as EventType, () => undefined);
    expect(on("run.succeded")).toThrow('"run.succeded" is not an event. Did you mean run.succeeded?');
    expect(on("run.finished")).toThrow(/^"run.finished" is not an event. The events are run.fired, .*run.succeeded/);
  });

  it("names all events when the name has no known group", () => {
    expect(unknownEventText("cake.baked", ["run.failed", "job.paused"])).toBe(
      '"cake.baked" is not an event. The events are run.failed, job.paused.',
    );
  });
});
