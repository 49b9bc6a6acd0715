/** README is short, and what it says works when pasted. */
import { statSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { version } from '../../package.json';
import { pastePage, readPage, stepsOf } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();

test('README is shorter than 10 KB', () => {
  expect(statSync('README.md').size).toBeLessThan(10_240);
});

test('the tour and the commands on keys can be pasted, in this order', async () => {
  const address = await processes.start().ready();

  const outputs = await pastePage('README.md', processes.folder, address);

  const keys = stepsOf('README.md').findIndex(({ text }) => text.includes('keys create'));
  expect(outputs[keys]).toMatch(/\[\]$/);
  // Within five seconds.
  await vi.waitFor(async () => expect((await fetch(`${address}/asset-categories`)).status).toBe(401), 20_000);
});

test('the page names the version', () => {
  const [major, minor] = version.split('.');

  expect(readPage('README.md')).toContain(`this is version ${major}.${minor}.`);
});
