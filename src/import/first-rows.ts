/**
 * The first row with each text, for millions of rows. A 64-bit hash stands for a text, in a quarter of the memory of a
 * Map. Once in forty million imports of a million texts, two have the same hash, and a row is refused.
 */
export class FirstRows {
  /** Two words for each slot of `#rows`, where 0 marks an empty one. */
  #hashes = new Uint32Array(2_048);
  #rows = new Float64Array(1_024);
  #size = 0;

  /** Returns the earlier row with the text, or adds this row, a number from 1. */
  add(text: string, row: number): number | undefined {
    if (this.#size > this.#rows.length * 0.7) this.#grow();
    const [low, high] = hashText(text);
    const at = this.#placeOf(low, high);
    if (this.#rows[at] !== 0) return this.#rows[at];
    this.#size += 1;
    this.#set(at, low, high, row);
    return undefined;
  }

  #placeOf(low: number, high: number): number {
    const mask = this.#rows.length - 1;
    let at = low & mask;
    while (this.#rows[at] !== 0 && (this.#hashes[2 * at] !== low || this.#hashes[2 * at + 1] !== high)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  #set(at: number, low: number, high: number, row: number): void {
    this.#hashes.set([low, high], 2 * at);
    this.#rows[at] = row;
  }

  #grow(): void {
    const [hashes, rows] = [this.#hashes, this.#rows];
    this.#hashes = new Uint32Array(2 * hashes.length);
    this.#rows = new Float64Array(2 * rows.length);
    for (const [at, row] of rows.entries()) {
      const [low = 0, high = 0] = [hashes[2 * at], hashes[2 * at + 1]];
      if (row !== 0) this.#set(this.#placeOf(low, high), low, high, row);
    }
  }
}

/** cyrb53, with both of its 32-bit halves. */
function hashText(text: string): [low: number, high: number] {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return [a >>> 0, b >>> 0];
}
