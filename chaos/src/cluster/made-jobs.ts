/** The ids of jobs by their keys, for whoever waits for them; null for one that nobody acknowledged. */
export class MadeJobs {
  readonly #jobs = new Map<
    string,
    { readonly id: Promise<string | null>; readonly settle: (id: string | null) => void }
  >();

  idOf(key: string): Promise<string | null> {
    return this.#at(key).id;
  }

  settle(key: string, id: string | null): null {
    this.#at(key).settle(id);
    return null;
  }

  #at(key: string): { readonly id: Promise<string | null>; readonly settle: (id: string | null) => void } {
    const known = this.#jobs.get(key);
    if (known !== undefined) return known;
    let settle: (id: string | null) => void = () => undefined;
    const made = {
      id: new Promise<string | null>((resolve) => (settle = resolve)),
      settle: (id: string | null) => settle(id),
    };
    this.#jobs.set(key, made);
    return made;
  }
}
