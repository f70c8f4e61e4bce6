// Events of one order are handled in sequence; different orders do not wait for each other.
import { task } from "carillon";

/** `handle` is called with each event. */
export function eventTask(handle) {
  return task({
    name: "order.event",
    orderingKey: "order:{payload.order}",
    orderingOnFailure: "block",
    retry: { maxAttempts: 3, initial: "1s" },
    run: (event) => handle(event),
  });
}

export async function publish(app, onEvent, events) {
  await app.enqueueMany(
    onEvent,
    events.map((payload) => ({ payload })),
  );
}
