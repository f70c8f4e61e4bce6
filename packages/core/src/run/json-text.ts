/**
 * A JSON value of which only the text is needed any more: whoever was given the value wrote it once, and nobody reads it to write it
 * again. Inside other JSON it stands for its value.
 */
export class JsonText {
  /** As `JSON.stringify` writes it. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text) as unknown;
  }
}
