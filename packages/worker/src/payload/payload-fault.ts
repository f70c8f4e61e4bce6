/** What is wrong with a payload, and where: a JSON pointer into it. */
export interface PayloadFault {
  readonly pointer: string;
  readonly message: string;
}
