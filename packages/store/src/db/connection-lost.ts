/**
 * The connection ended, or gave no answer in time, while it was needed. What was sent last may or may not have taken
 * effect. pg gives such errors no code, so we give them a class.
 */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }
}
