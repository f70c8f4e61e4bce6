type Watcher<Row> = (before: Row | undefined, after: Row | undefined) => void;

/** The rows of one table by their key. Rows are replaced, never changed, so that a transaction can be taken back. */
export class Rows<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #watch: Watcher<Row>;
  /** What was there before, in the order of the writes, while a transaction is under way. */
  #before: [key: string, row: Row | undefined][] | null = null;

  /** `watch` is told of every write, those that take others back included. */
  constructor(watch: Watcher<Row> = () => undefined) {
    this.#watch = watch;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  /** undefined removes the row. */
  set(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key);
    this.#before?.push([key, before]);
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row);
    this.#watch(before, row);
  }

  begin(): void {
    this.#before = [];
  }

  commit(): void {
    this.#before = null;
  }

  rollback(): void {
    const writes = this.#before ?? [];
    this.#before = null;
    for (const [key, row] of writes.toReversed()) this.set(key, row);
  }
}
