/**
 * Numbers the polls of a session, and knows which answers arrived. After one that did not, the next polls name all that the
 * worker holds, until one of them is answered: the server then tells again what got lost.
 */
export class Polls {
  readonly #underWay = new Set<number>();
  #last = 0;
  #failedUpTo = 0;
  #namedUpTo = 0;

  begin(): { readonly number: number; readonly heard: number; readonly isToName: boolean } {
    const number = ++this.#last;
    this.#underWay.add(number);
    const heard = Math.min(...this.#underWay) - 1;
    return { number, heard, isToName: this.#failedUpTo > this.#namedUpTo };
  }

  answered({ number, heard, isToName }: ReturnType<Polls["begin"]>): void {
    this.#underWay.delete(number);
    if (isToName) this.#namedUpTo = Math.max(this.#namedUpTo, heard);
  }

  failed({ number }: ReturnType<Polls["begin"]>): void {
    this.#underWay.delete(number);
    this.#failedUpTo = Math.max(this.#failedUpTo, number);
  }
}
