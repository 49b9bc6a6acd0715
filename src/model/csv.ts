/** A cell without a value is empty, an empty text is quoted. */
export function csvCell(text: string | null, separator = ','): string {
  if (text === null) return '';
  const needsQuotes = text === '' || text.includes(separator) || /["\r\n]|^\s|\s$/.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * For texts that spreadsheet programs would execute, or that look like the result: `withoutApostrophe` restores every
 * text.
 */
export const withApostrophe = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);

export const withoutApostrophe = (cell: string): string => (hasApostrophe(cell) ? cell.slice(1) : cell);

export const hasApostrophe = (cell: string): boolean => /^'+[=+\-@\t\r]/.test(cell);
