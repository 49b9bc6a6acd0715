/** Returns a cell. One without a value is empty; an empty text is quoted, which distinguishes the two. */
export function csvCell(text: string | null, separator = ','): string {
  if (text === null) return '';
  const needsQuotes = text === '' || text.includes(separator) || /["\r\n]|^\s|\s$/.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}
