/** A cell without a value is empty, an empty text is quoted. */
export function csvCell(text: string | null, separator = ','): string {
  if (text === null) return '';
  const needsQuotes = text === '' || text.includes(separator) || /["\r\n]|^\s|\s$/.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * An apostrophe before texts that spreadsheet programs would execute, and a formula such as `="00815"` around texts
 * that they would change. `textOfSpreadsheet` restores every text.
 */
export function forSpreadsheet(text: string): string {
  if (/^'*[=+\-@\t\r]/.test(text)) return `'${text}`;
  return text.length <= maxFormulaText && isChanged(text) ? `="${text}"` : text;
}

export function textOfSpreadsheet(cell: string): string {
  return hasApostrophe(cell) ? cell.slice(1) : (/^="([^"]*)"$/.exec(cell)?.[1] ?? cell);
}

export const hasApostrophe = (cell: string): boolean => /^'+[=+\-@\t\r]/.test(cell);

/** Excel takes no longer text in a formula. */
const maxFormulaText = 255;

/** Read as a number with other digits, a date, a time or a truth value. */
function isChanged(written: string): boolean {
  const text = written.toLowerCase();
  if (/^(?:true|false|wahr|falsch|vrai|faux|waar|onwaar)$/.test(text)) return true;
  if (!/\d/.test(text) || /^(?:0|[1-9]\d{0,10})$/.test(text)) return false;
  return numberOrTime.test(text) || monthAndNumbers.test(text);
}

const numberOrTime = /^[\s.,(€$£¥]*\d[\d\s.,:/()%€$£¥eapm+-]*$/;

const monthAndNumbers =
  /^[\d\s./,-]*(?:jan|f[eé][bv]|m[aä]r|mrz|maa|apr|avr|ma[iy]|mei|ju[nil]|aug|ao[uû]|sep|o[ck]t|nov|d[eé][cz])[a-zäûéè]{0,7}[\d\s./,:-]*$/;
