import type { Database, Listening, NodeLockStatements } from "@carillon/store";
import type { IncarnationLock } from "../member/row-registry.js";

/** The lock of an incarnation on the direct connection. It is made again by itself on each new connection. */
export class SessionLock implements IncarnationLock {
  readonly #database: Pick<Database, "hold">;
  readonly #statements: NodeLockStatements;
  #holding: Listening | null = null;

  constructor(database: Pick<Database, "hold">, statements: NodeLockStatements) {
    this.#database = database;
    this.#statements = statements;
  }

  async hold(nodeId: string, onLost: () => void): Promise<void> {
    await this.release();
    const { lock, unlock } = this.#statements;
    this.#holding = this.#database.hold({
      setUp: async (session) => void (await session.query(lock, [nodeId])),
      takeDown: async (session) => void (await session?.query(unlock, [nodeId])),
      onHeld: () => undefined,
      onLost,
    });
  }

  async release(): Promise<void> {
    const holding = this.#holding;
    this.#holding = null;
    await holding?.stop();
  }
}
