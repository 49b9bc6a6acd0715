/**
 * The API key that was entered on one of the pages: GraphiQL and the REST reference share it, so that it is asked for once. It
 * must not get into a URL, nor into a storage that outlives the browser tab.
 */
const entry = 'yardgraph.key';

/** Returns the key in a text that was typed or pasted; undefined if it cannot be one. @param {string} text */
export function keyIn(text) {
  const key = text.trim().replace(/^bearer +/i, '');
  // Others cannot be sent in a header.
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

export const notAKey = 'This is not an API key.';

export const readKey = () => keyIn(sessionStorage.getItem(entry) ?? '');

/** @param {string} key */
export const keepKey = (key) => sessionStorage.setItem(entry, key);

export const forgetKey = () => sessionStorage.removeItem(entry);

/** Returns the headers that send a key, or none. @param {string | undefined} key @returns {Record<string, string>} */
export const headersWith = (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` });
