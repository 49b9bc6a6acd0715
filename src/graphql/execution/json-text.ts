/** Writes JSON text piece by piece. Pieces that are promised are waited for together. Knows no GraphQL. */

/** JSON text, now or later. If it fails, nothing that was begun for it is still running. */
export type Text = string | Promise<string>;

export type Write = (value: unknown) => Text;

interface Property {
  /** The name as JSON, and a colon. */
  readonly prefix: string;
  /** Writes the value of the property of an object. */
  readonly write: Write;
}

/** Writes objects that have these properties. */
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

/** Writes lists of such items. */
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

/** Text that consists of many pieces. As long as none is promised, they are joined at once. */
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

  /** Throws the error, as soon as no promised piece is being written any more. */
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

/** Characters that JSON text escapes, and surrogates, which it escapes unless they come in pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The text as JSON. Most texts need no escapes, and a search for them takes less time than JSON.stringify. */
export const quoted = (text: string): string => (escaped.test(text) ? JSON.stringify(text) : `"${text}"`);
