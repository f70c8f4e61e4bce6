import type { DatabaseEvent, EngineEvent } from "@carillon/engine";
import type { WorkerEvent } from "@carillon/worker";

/** What an app with the engine inside tells. */
export type AppEvent = EngineEvent | WorkerEvent | DatabaseEvent;

export type AppListener<Type extends AppEvent["type"]> = (event: Extract<AppEvent, { type: Type }>) => void;
