import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

const method = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const mostTexts = 0xffff_ffff;

/** Keeps what nodes tell each other from others, and others from telling it. A text is for one channel and for no other. */
export class Seal {
  readonly #key: KeyObject;
  /** Never twice the same: a part of its own for each process, and a number. Random ones would cost half as much again. */
  #nonce = randomBytes(nonceBytes);
  #texts = 0;

  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  close(channel: string, text: string): string {
    const nonce = this.#nextNonce();
    const cipher = createCipheriv(method, this.#key, nonce).setAAD(Buffer.from(channel));
    return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
  }

  /** null: nobody who knows the secret wrote it for this channel. */
  open(channel: string, sealed: string): string | null {
    const bytes = Buffer.from(sealed, "base64");
    if (bytes.length < nonceBytes + tagBytes) return null;
    const decipher = createDecipheriv(method, this.#key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(channel)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return null;
    }
  }

  #nextNonce(): Buffer {
    if (this.#texts === mostTexts) {
      this.#nonce = randomBytes(nonceBytes);
      this.#texts = 0;
    }
    this.#nonce.writeUInt32BE(++this.#texts, nonceBytes - 4);
    return this.#nonce;
  }
}
