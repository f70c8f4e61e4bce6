/** The nodes of a cluster, of which any will do; one is used until it fails. */
export class Endpoints {
  readonly #urls: readonly string[];
  #at = 0;

  constructor(urls: readonly string[]) {
    if (urls.length === 0) throw new Error("a worker needs the address of a server");
    this.#urls = urls.map((url) => url.replace(/\/+$/, ""));
  }

  get count(): number {
    return this.#urls.length;
  }

  get current(): string {
    return this.#urls[this.#at] ?? "";
  }

  /** The one that was asked does not do; if it is still the one in use, the next is used from now on. */
  failed(url: string): void {
    if (url === this.current) this.#at = (this.#at + 1) % this.#urls.length;
  }
}
