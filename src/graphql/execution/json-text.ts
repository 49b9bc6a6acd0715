/** Writes JSON text piece by piece, and waits for promised pieces together. Knows no GraphQL. */

/** JSON text or a promise of it. When the promise is rejected, nothing begun for it is still running. */
export type Text = string | Promise<string>;

export type Write = (value: unknown) => Text;

interface Property {
  /** The name as JSON, and a colon. */
  readonly prefix: string;
  /** Writes the value of the property of an object. */
  readonly write: Write;
}

/** Returns a function that writes objects with these properties. */
export const objectToJson =
  (properties: readonly Property[]): Write =>
  (object) => {
    const text = new Pieces('{');
    try {
      let separator = '';
      for (const { prefix, write } of properties) {
        text.add(separator + prefix, write(object));
        separator = ',';
      }
    } catch (error) {
      return text.fail(error);
    }
    return text.end('}');
  };

/** Returns a function that writes lists of such items. */
export const itemsToJson =
  (write: Write): Write =>
  (items) => {
    if (!Array.isArray(items)) throw new Error('expected a list');
    const text = new Pieces('[');
    try {
      let separator = '';
      for (const item of items) {
        text.add(separator, write(item));
        separator = ',';
      }
    } catch (error) {
      return text.fail(error);
    }
    return text.end(']');
  };

/** A text in pieces, which are joined at once until one is a promise. */
class Pieces {
  #text: string;
  #before: Text[] | undefined;

  constructor(start: string) {
    this.#text = start;
  }

  add(prefix: string, piece: Text): void {
    if (typeof piece === 'string') {
      this.#text += prefix + piece;
      return;
    }
    this.#before ??= [];
    this.#before.push(this.#text + prefix, piece);
    this.#text = '';
  }

  end(last: string): Text {
    const text = this.#text + last;
    return this.#before ? joined([...this.#before, text]) : text;
  }

  /** Throws the error once no promised piece is still being written. */
  fail(error: unknown): Text {
    if (!this.#before) throw error;
    return Promise.allSettled(this.#before).then(() => Promise.reject(error));
  }
}

async function joined(pieces: readonly Text[]): Promise<string> {
  let text = '';
  for (const settled of await Promise.allSettled(pieces)) {
    if (settled.status === 'rejected') throw settled.reason;
    text += settled.value;
  }
  return text;
}

/** The characters that JSON escapes, and surrogates, which it escapes if they are unpaired. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Returns the text as JSON. Most texts need no escapes, and searching for them takes less time than JSON.stringify. */
export const quoted = (text: string): string => (escaped.test(text) ? JSON.stringify(text) : `"${text}"`);
