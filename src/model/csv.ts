/** Returns a cell. One without a value is empty; an empty text is quoted, which distinguishes the two. */
export function csvCell(text: string | null, separator = ','): string {
  if (text === null) return '';
  const needsQuotes = text === '' || text.includes(separator) || /["\r\n]|^\s|\s$/.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Adds an apostrophe before a text that spreadsheet programs would execute, and before one that looks as if it had got one: so
 * an import that takes off one apostrophe has every text as it was.
 */
export const withApostrophe = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);
