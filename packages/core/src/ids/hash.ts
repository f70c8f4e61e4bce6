/**
 * A 128-bit hash of 32-bit words, a block of four at a time, like MurmurHash3: fast, the same on every platform, every input
 * bit affects every output bit. It is not cryptographic: collisions can be constructed.
 */
const c1 = 0x239b961b;
const c2 = 0xab0e9789;
const c3 = 0x38b34ae5;
const c4 = 0xa1e38b93;

export class Hash128 {
  #a: number;
  #b: number;
  #c: number;
  #d: number;
  #blocks = 0;

  constructor(seed: number) {
    this.#a = this.#b = this.#c = this.#d = seed;
  }

  block(w: number, x: number, y: number, z: number): void {
    let a = this.#a ^ Math.imul(rotate(Math.imul(w, c1), 15), c2);
    a = (Math.imul((rotate(a, 19) + this.#b) | 0, 5) + 0x561ccd1b) | 0;
    let b = this.#b ^ Math.imul(rotate(Math.imul(x, c2), 16), c3);
    b = (Math.imul((rotate(b, 17) + this.#c) | 0, 5) + 0x0bcaa747) | 0;
    let c = this.#c ^ Math.imul(rotate(Math.imul(y, c3), 17), c4);
    c = (Math.imul((rotate(c, 15) + this.#d) | 0, 5) + 0x96cd1c35) | 0;
    let d = this.#d ^ Math.imul(rotate(Math.imul(z, c4), 18), c1);
    d = (Math.imul((rotate(d, 13) + a) | 0, 5) + 0x32ac3b17) | 0;
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
    this.#blocks++;
  }

  /** The four words of the hash. Nothing may be added afterwards. */
  words(): readonly [number, number, number, number] {
    const length = this.#blocks * 16;
    let [a, b, c, d] = mixed(this.#a ^ length, this.#b ^ length, this.#c ^ length, this.#d ^ length);
    a = finish(a);
    b = finish(b);
    c = finish(c);
    d = finish(d);
    return mixed(a, b, c, d);
  }
}

function mixed(a: number, b: number, c: number, d: number): [number, number, number, number] {
  const sum = (a + b + c + d) | 0;
  return [sum, (sum + b) | 0, (sum + c) | 0, (sum + d) | 0];
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function finish(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
