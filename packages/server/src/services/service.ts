/**
 * Anything that lives as long as the node. `start` resolves when the service does its work, and throws after undoing what
 * it began; `stop` resolves when nothing of it is left. Both may be called in any state, any number of times.
 */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}
