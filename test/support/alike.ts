/** Which names are alike, and how people sort them, without the keys of the service: by letters and the values of numbers. */

/** Numbers are without leading zeros, in brackets: `bay ⟨7⟩`. */
export const alikeForm = (text: string): string =>
  lettersOf(text)
    .trim()
    .replace(/\d+/g, (digits) => `⟨${BigInt(digits)}⟩`);

function lettersOf(text: string): string {
  const letters = Array.from(text.normalize('NFKD').replace(/\p{M}/gu, ''), (letter) => letter.toLowerCase()).join('');
  const replaced = letters.replace(
    /[ßøæđłı]/g,
    (letter) => ({ ß: 'ss', æ: 'ae' })[letter] ?? 'odli'['øđłı'.indexOf(letter)] ?? '',
  );
  return replaced.replace(/(?!\s)\p{Cc}/gu, '').replace(/\s+/g, ' ');
}

/** The last number of the text may be the beginning of one. */
function openForm(text: string): string {
  const letters = lettersOf(text).trimStart();
  const [number = ''] = /\d+$/.exec(letters) ?? [];
  if (number === '') return alikeForm(letters);
  return `${alikeForm(`${letters.slice(0, -number.length)}.`).slice(0, -1)}⟨${number.replace(/^0+/, '')}`;
}

export const startsAlike = (text: string, asked: string): boolean => alikeForm(text).startsWith(openForm(asked));

export function containsAlike(text: string, asked: string): boolean {
  const part = openForm(asked).replace(/^⟨/, '');
  return alikeForm(text).includes(part === '' && /\d/.test(asked) ? '0' : part);
}

/** Numbers come before all letters, those of more than 30 digits last and by their digits. */
export function compareAlike(a: string, b: string): number {
  const [ours = [], theirs = []] = [a, b].map(
    (text) =>
      alikeForm(text)
        .replace(/⟨(\d{31,})⟩/g, '\0$1')
        .match(/⟨\d+⟩|./gsu) ?? [],
  );
  for (const [index, mine] of ours.entries()) {
    const other = theirs[index];
    if (other === undefined) return 1;
    const [x = 0n, y = 0n] = [mine, other].map(unitOf);
    if (x !== y) return x < y ? -1 : 1;
  }
  return ours.length - theirs.length;
}

function unitOf(unit: string): bigint {
  const [, digits] = /^⟨(\d+)⟩$/.exec(unit) ?? [];
  return digits === undefined ? BigInt(unit.codePointAt(0) ?? 0) : BigInt(digits) - 10n ** 31n;
}
