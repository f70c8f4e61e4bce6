/** How a run may have ended when a callback is made. */
export const callbackMoments = ["succeeded", "failed", "cancelled"] as const;

export type CallbackMoment = (typeof callbackMoments)[number];

/** What a message about a run may carry beside the facts. */
export const callbackParts = ["payload", "output", "error"] as const;

export type CallbackPart = (typeof callbackParts)[number];

/** Whom to tell of the end of a run: an address, or a task that is run with the message as its payload. */
export interface Callback {
  readonly on: readonly CallbackMoment[];
  readonly url?: string;
  readonly task?: string;
  readonly include: readonly CallbackPart[];
}

/** Runs that tell of other runs: nobody is told of them. */
export const isCallbackTrigger = (trigger: string): boolean => trigger.startsWith("callback");

/** Where messages to addresses wait, and the task that sends them. Names that begin so belong to the product. */
export const systemPrefix = "carillon:";
export const webhookQueue = "carillon:webhooks";
export const webhookTask = "carillon:webhook";
