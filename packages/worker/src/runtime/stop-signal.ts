/** An AbortController that is made when somebody looks at it: most handlers never do, and it costs more than they do. */
export class StopSignal {
  #controller: AbortController | null = null;
  #reason: Error | null = null;
  #onAbort: Set<(reason: Error) => void> | null = null;
  readonly #onFire: ((reason: Error) => void) | null;

  /** `onFire` is called when it fires, before anybody else. */
  constructor(onFire: ((reason: Error) => void) | null = null) {
    this.#onFire = onFire;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Why it fired; null while it has not. */
  get reason(): Error | null {
    return this.#reason;
  }

  /** Called once when it fires, at once if it has. Answers how not to be called. */
  onAbort(callback: (reason: Error) => void): () => void {
    if (this.#reason === null) (this.#onAbort ??= new Set()).add(callback);
    else callback(this.#reason);
    return () => void this.#onAbort?.delete(callback);
  }

  /** The first reason stays. */
  abort(reason: Error): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#onFire?.(reason);
    this.#controller?.abort(reason);
    for (const callback of this.#onAbort ?? []) callback(reason);
    this.#onAbort = null;
  }
}
