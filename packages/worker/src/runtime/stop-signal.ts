/** An AbortController that is made when somebody looks at it: most handlers never do, and it costs more than they do. */
export class StopSignal {
  #controller: AbortController | null = null;
  #reason: unknown = null;
  #isAborted = false;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stays. */
  abort(reason: Error): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
