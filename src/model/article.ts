/** Labels in running text. Pure; knows nothing of the languages or formats that the text ends up in. */

/** The label with its indefinite article: `an asset`, `a work order`. By its first letter, which suffices for our labels. */
export const withArticle = (label: string): string => `${/^[aeiou]/i.test(label) ? 'an' : 'a'} ${label}`;
