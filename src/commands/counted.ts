/** Numbers of things in sentences. */

/** `1 key`, `1,000 records`, `2 asset categories` */
export const counted = (size: number, thing: string): string =>
  `${size.toLocaleString('en-US')} ${size === 1 ? thing : `${thing.replace(/([^aeiou])y$/, '$1ie')}s`}`;
