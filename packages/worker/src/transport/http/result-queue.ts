import type { Completion } from "@carillon/core";
import { ServerRefused } from "./server-calls.js";
import { resultJson, toNotStorable } from "./wire.js";

/** The results of one `add`, until all of them are answered. */
interface PendingReport {
  readonly completions: readonly Completion[];
  readonly resolve: (accepted: ReadonlySet<string>) => void;
  readonly reject: (error: unknown) => void;
}

const maxResults = 1_000;
const maxCharacters = 4_194_304;

/** Sends results as a JSON array; returns the ids of the runs whose result was refused. */
export type SendResults = (json: string) => Promise<readonly string[]>;

/** Sends results in one request at a time; those that are added meanwhile go together in the next one. */
export class ResultQueue {
  readonly #send: SendResults;
  #reports: PendingReport[] = [];
  #isSending = false;

  constructor(send: SendResults) {
    this.#send = send;
  }

  /** Resolves with the ids of the runs whose result was accepted. */
  add(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return new Promise((resolve, reject) => {
      this.#reports.push({ completions, resolve, reject });
      void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#reports.length > 0) await this.#sendReports(this.#takeReports());
    this.#isSending = false;
  }

  #takeReports(): PendingReport[] {
    let count = 0;
    const end = this.#reports.findIndex(({ completions }, index) => {
      count += completions.length;
      return index > 0 && count > maxResults;
    });
    return this.#reports.splice(0, end === -1 ? this.#reports.length : end);
  }

  async #sendReports(reports: readonly PendingReport[]): Promise<void> {
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
      if (texts.length > 0 && (texts.length >= maxResults || characters + text.length > maxCharacters)) {
        refused.push(...(await this.#sendPart(completions.slice(from, index), texts)));
        [from, characters, texts] = [index, 0, []];
      }
      texts.push(text);
      characters += text.length;
    }
    return [...refused, ...(await this.#sendPart(completions.slice(from), texts))];
  }

  /** Halves a refused part until the invalid result is alone, so that it does not block the others. It then fails its run. */
  async #sendPart(completions: readonly Completion[], texts: readonly string[]): Promise<readonly string[]> {
    try {
      return await this.#send(`[${texts.join(",")}]`);
    } catch (error) {
      if (!(error instanceof ServerRefused) || !error.isFinal) throw error;
      const [only] = completions;
      if (only === undefined) return [];
      if (completions.length === 1) return this.#sendFailure(only, error);
      const half = Math.ceil(completions.length / 2);
      const first = await this.#sendPart(completions.slice(0, half), texts.slice(0, half));
      return [...first, ...(await this.#sendPart(completions.slice(half), texts.slice(half)))];
    }
  }

  async #sendFailure(completion: Completion, { message }: Error): Promise<readonly string[]> {
    try {
      return await this.#send(`[${resultJson(toNotStorable(completion, `the result cannot be stored: ${message}`))}]`);
    } catch (error) {
      // The server refuses the failure too: the worker drops the run, and the server rescues it.
      if (error instanceof ServerRefused && error.isFinal) return [completion.runId];
      throw error;
    }
  }
}
