import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DoneFault } from "../judge/evidence.js";
import type { WorkerFault } from "../plan/worker-faults.js";
import { WorkerProcess } from "./worker-process.js";

export interface WorkersOptions {
  readonly folder: string;
  readonly urls: readonly string[];
  readonly seed: number;
  /** From then on no run hangs: the server needs its time to end one. */
  readonly hangsUntil: number;
}

/** More than a node has for its own: whoever has most free slots is given most. */
const slots = "120";

/** Workers in processes of their own, over HTTP: one that is disturbed, and one that lies. */
export class Workers {
  readonly #honest: WorkerProcess;
  readonly #liar: WorkerProcess;

  static async start({ folder, urls, seed, hangsUntil }: WorkersOptions): Promise<Workers> {
    const of = async (program: "honest-main" | "liar-main", args: readonly string[]) =>
      WorkerProcess.make({ program, args, urls, logPath: join(folder, `${program}.log`) });
    const honest = await of("honest-main", [slots]);
    const liar = await of("liar-main", [slots, String(seed), String(hangsUntil)]);
    for (const worker of [honest, liar]) worker.start();
    return new Workers(honest, liar);
  }

  private constructor(honest: WorkerProcess, liar: WorkerProcess) {
    this.#honest = honest;
    this.#liar = liar;
  }

  get pids(): number[] {
    return [this.#honest, this.#liar].flatMap(({ pid }) => pid ?? []);
  }

  get lies(): number {
    return ["twice", "older", "stranger", "hang", "begin"].reduce((sum, lie) => sum + this.#liar.count(lie), 0);
  }

  /** Results that were not taken. */
  get refused(): number {
    return this.#liar.count("refused") + this.#honest.count("run.result_refused");
  }

  async disturb(plan: readonly WorkerFault[], begin: number): Promise<DoneFault[]> {
    const done: DoneFault[] = [];
    for (const { kind, atMs, lastsMs } of plan) {
      await sleep(Math.max(0, begin + atMs - Date.now()));
      const from = Date.now();
      await this.#inject(kind, lastsMs);
      done.push({ kind, node: null, from, until: Date.now() });
    }
    return done;
  }

  async close(): Promise<void> {
    await Promise.all([this.#honest.close(), this.#liar.close()]);
  }

  async #inject(kind: WorkerFault["kind"], lastsMs: number): Promise<void> {
    const worker = this.#honest;
    if (kind === "worker_kill") {
      await worker.kill();
      await sleep(lastsMs);
      worker.start();
    } else if (kind === "worker_freeze") {
      worker.freeze();
      await sleep(lastsMs);
      worker.thaw();
    } else {
      worker.loseAnswers();
      await sleep(lastsMs);
      await worker.resume();
    }
  }
}
