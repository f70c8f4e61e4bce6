export type Listener<Events, Name extends keyof Events> = (event: Events[Name]) => void;
export type AnyListener<Events> = <Name extends keyof Events>(name: Name, event: Events[Name]) => void;

/**
 * Tells subscribers what happened, at once and in the order of subscription. What a subscriber throws goes to `onError` and
 * no further: metrics or a log that fails must not stop the scheduler.
 */
export class Emitter<Events extends object> {
  /** Arrays that are replaced, never changed, so that a subscription during an event does not disturb its delivery. */
  readonly #byName = new Map<keyof Events, readonly ((event: never) => void)[]>();
  #any: readonly AnyListener<Events>[] = [];
  readonly #onError: (error: unknown, name: keyof Events) => void;

  constructor(onError: (error: unknown, name: keyof Events) => void = () => undefined) {
    this.#onError = onError;
  }

  /** Subscribes to one event; the function it gives ends the subscription. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events, Name>): () => void {
    let subscribed = true;
    const subscription: Listener<Events, Name> = (event) => {
      if (subscribed) listener(event);
    };
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), subscription]);
    return () => {
      subscribed = false;
      this.#byName.set(
        name,
        (this.#byName.get(name) ?? []).filter((other) => other !== subscription),
      );
    };
  }

  /** Subscribes to all events. */
  onAny(listener: AnyListener<Events>): () => void {
    let subscribed = true;
    const subscription: AnyListener<Events> = (name, event) => {
      if (subscribed) listener(name, event);
    };
    this.#any = [...this.#any, subscription];
    return () => {
      subscribed = false;
      this.#any = this.#any.filter((other) => other !== subscription);
    };
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    // Under a name there are only listeners of its event: see on().
    const listeners = (this.#byName.get(name) ?? []) as readonly Listener<Events, Name>[];
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#report(error, name);
      }
    }
    for (const listener of this.#any) {
      try {
        listener(name, event);
      } catch (error) {
        this.#report(error, name);
      }
    }
  }

  #report(error: unknown, name: keyof Events): void {
    try {
      this.#onError(error, name);
    } catch {
      // There is nobody left to tell.
    }
  }
}
