import type { Hold } from "./direct-line.js";
import type { OnDatabaseEvent } from "./events.js";

/** Who listens to which channel. Several may listen to one. */
export class Listeners {
  readonly #byChannel = new Map<string, Map<Hold, (payload: string) => void>>();
  readonly #onEvent: OnDatabaseEvent;

  constructor(onEvent: OnDatabaseEvent) {
    this.#onEvent = onEvent;
  }

  /** The hold that keeps the LISTEN; dropping it ends the listening. */
  add(channel: string, onNotify: (payload: string) => void, onReconnect: () => void, onFirst?: () => void): Hold {
    const listeners = this.#byChannel.get(channel) ?? new Map<Hold, (payload: string) => void>();
    this.#byChannel.set(channel, listeners);
    const name = `"${channel.replaceAll('"', '""')}"`;
    const hold: Hold = {
      setUp: async (session) => {
        await session.query({ text: `listen ${name}` });
      },
      takeDown: async (session) => {
        listeners.delete(hold);
        if (listeners.size > 0 || session === undefined) return;
        await session.query({ text: `unlisten ${name}` });
      },
      onHeld: (again) => {
        this.#onEvent({ type: "listen.started", channel, again });
        if (again) onReconnect();
        else onFirst?.();
      },
    };
    listeners.set(hold, onNotify);
    return hold;
  }

  deliver(channel: string, payload: string): void {
    for (const onNotify of this.#byChannel.get(channel)?.values() ?? []) onNotify(payload);
  }
}
