import type { Completion } from "@carillon/core";
import { notTaken, resultJson } from "./wire.js";
import { ServerRefused } from "./server-calls.js";

/** One report of the runtime, until all of it is answered. */
interface Report {
  readonly completions: readonly Completion[];
  readonly resolve: (accepted: ReadonlySet<string>) => void;
  readonly reject: (error: unknown) => void;
}

const mostResults = 1_000;
const mostCharacters = 4_194_304;

/** Sends results; answers the runs whose result was refused. */
export type SendResults = (json: string) => Promise<readonly string[]>;

/** Results on their way to the server, one request at a time: what comes meanwhile goes together with the next. */
export class ResultQueue {
  readonly #send: SendResults;
  #reports: Report[] = [];
  #isSending = false;

  constructor(send: SendResults) {
    this.#send = send;
  }

  /** Resolves with the runs whose result was accepted. */
  add(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return new Promise((resolve, reject) => {
      this.#reports.push({ completions, resolve, reject });
      void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#reports.length > 0) await this.#sendReports(this.#take());
    this.#isSending = false;
  }

  #take(): Report[] {
    let count = 0;
    const more = this.#reports.findIndex(({ completions }, index) => {
      count += completions.length;
      return index > 0 && count > mostResults;
    });
    return this.#reports.splice(0, more === -1 ? this.#reports.length : more);
  }

  async #sendReports(reports: readonly Report[]): Promise<void> {
    const completions = reports.flatMap((report) => report.completions);
    try {
      const refused = new Set(await this.#sendInParts(completions));
      for (const report of reports) {
        const ids = report.completions.map(({ runId }) => runId);
        report.resolve(new Set(refused.size === 0 ? ids : ids.filter((id) => !refused.has(id))));
      }
    } catch (error) {
      for (const report of reports) report.reject(error);
    }
  }

  async #sendInParts(completions: readonly Completion[]): Promise<readonly string[]> {
    const refused: string[] = [];
    let [from, characters, texts]: [number, number, string[]] = [0, 0, []];
    for (const [index, completion] of completions.entries()) {
      const text = resultJson(completion);
      if (texts.length > 0 && (texts.length >= mostResults || characters + text.length > mostCharacters)) {
        refused.push(...(await this.#sendPart(completions.slice(from, index), texts)));
        [from, characters, texts] = [index, 0, []];
      }
      texts.push(text);
      characters += text.length;
    }
    return [...refused, ...(await this.#sendPart(completions.slice(from), texts))];
  }

  /** A result that the server does not take must not keep the others from it: it stands for a failure of its run. */
  async #sendPart(completions: readonly Completion[], texts: readonly string[]): Promise<readonly string[]> {
    try {
      return await this.#send(`[${texts.join(",")}]`);
    } catch (error) {
      if (!(error instanceof ServerRefused) || !error.isFinal) throw error;
      const [only] = completions;
      if (only === undefined) return [];
      if (completions.length === 1) return this.#sendFault(only, error);
      const half = Math.ceil(completions.length / 2);
      const first = await this.#sendPart(completions.slice(0, half), texts.slice(0, half));
      return [...first, ...(await this.#sendPart(completions.slice(half), texts.slice(half)))];
    }
  }

  async #sendFault(completion: Completion, { message }: Error): Promise<readonly string[]> {
    try {
      return await this.#send(`[${resultJson(notTaken(completion, `the result cannot be stored: ${message}`))}]`);
    } catch (error) {
      // Whatever it is, the server will not have it: its run is given up here, and rescued there.
      if (error instanceof ServerRefused && error.isFinal) return [completion.runId];
      throw error;
    }
  }
}
