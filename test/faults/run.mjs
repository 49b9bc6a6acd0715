/**
 * Tests the tests: plants faults a few at a time, and expects the tests that should find each to fail.
 * Ends with 1 when a fault is not noticed, when its place no longer exists, or when its tests fail without it.
 * Arguments select the faults whose names contain one of them. After --skip-baselines, the tests are known to pass without faults;
 * --sample plants about 20, others with each commit.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';
import { faults } from './faults.mjs';
import { placeOf } from './plant.mjs';

async function main(args) {
  const parts = args.filter((arg) => !arg.startsWith('--'));
  const named = faults.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
  const chosen = args.includes('--sample') ? sampleOf(named) : named;
  if (chosen.length === 0) throw new Error(`no fault has one of these in its name: ${parts.join(', ')}`);
  const [planted, lost] = separate(chosen);
  for (const { name, error } of lost) console.log(`PLACE NOT FOUND: ${name}: ${error.message}`);
  const baselines = [...new Map(planted.map(({ tests }) => [tests.join(' '), tests])).values()];
  const failed = new Set();
  let missed = 0;

  const withoutFaults = args.includes('--skip-baselines') ? [] : baselines.map((tests) => ({ tests }));
  await distribute(withoutFaults, ({ tests }, { failure, problem }, duration) => {
    const error = failure ?? problem;
    if (error) failed.add(tests.join(' '));
    console.log(`${error ? `FAILS (${error})` : 'passes'} without a fault: ${tests.join(' ')} (${duration})`);
  });
  const testable = planted.filter(({ tests }) => !failed.has(tests.join(' ')));
  await distribute(testable, ({ name }, { failure, problem }, duration) => {
    if (!failure) missed += 1;
    if (failure) console.log(`noticed: ${name} (${duration})\n    by ${failure}`);
    else console.log(`NOT NOTICED${problem ? ` (${problem})` : ''}: ${name} (${duration})`);
  });
  console.log(`${chosen.length} faults, ${lost.length + missed} lost or not noticed, ${failed.size} baselines failed`);
  if (lost.length + missed + failed.size > 0) process.exitCode = 1;
}

/** Every fault is in the sample of some commit. */
function sampleOf(all) {
  const step = Math.ceil(all.length / 20);
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' });
  const offset = Number.parseInt(commit.slice(0, 8), 16) % step;
  return all.filter((_, index) => index % step === offset);
}

/** Faults whose places all exist, and the others with the error that says why. */
function separate(chosen) {
  const planted = [];
  const lost = [];
  for (const fault of chosen) {
    try {
      for (const place of fault.plant ?? []) placeOf(place);
      planted.push(fault);
    } catch (error) {
      lost.push({ name: fault.name, error });
    }
  }
  return [planted, lost];
}

/** Milliseconds in which a run must end after its first failure: some faults leave connections that nothing closes. */
const patience = 15_000;

/** In a process group of its own, which includes the databases and processes that its tests start. */
const start = () => fork(fileURLToPath(import.meta.url), { detached: true });

/** The next message of a process, or that it has ended. */
async function outcomeOf(child) {
  const waiting = new AbortController();
  const next = (event) => once(child, event, { signal: waiting.signal });
  const ended = next('exit').then(() => [{ problem: 'the process of the tests ended', hasEnded: true }]);
  try {
    const [outcome] = await Promise.race([next('message'), ended]);
    return outcome;
  } finally {
    ended.catch(() => {});
    waiting.abort();
  }
}

function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}

/** Of two cores, two processes use only half: some tests wait for timeouts. */
const processCount = 4;

/** Runs each task in one of the processes as soon as that is free. */
async function distribute(tasks, report) {
  const queue = [...tasks];
  const work = async () => {
    let child = start();
    for (let task = queue.shift(); task; task = queue.shift()) {
      const began = performance.now();
      child.send(task);
      const outcome = await outcomeOf(child);
      report(task, outcome, `${Math.round((performance.now() - began) / 1_000)} s`);
      if (outcome.isDone) continue;
      if (!outcome.hasEnded && (await Promise.race([outcomeOf(child), pause(patience)]))) continue;
      killGroup(child);
      child = start();
    }
    child.disconnect();
    await once(child, 'exit');
  };
  await Promise.all(Array.from({ length: processCount }, work));
}

/** Runs tests with the faults that it is sent, one after the other, until the other process disconnects. */
async function serve() {
  /** Why the current run has failed: the name of a test, or an error that kept the tests from running. */
  let failure;
  const reporter = {
    onTestCaseResult(test) {
      if (test.result().state !== 'failed') return;
      if (failure) return;
      failure = `"${test.name}": ${test.result().errors[0]?.message.split('\n')[0].slice(0, 120)}`;
      process.send({ failure });
      void vitest.cancelCurrentRun('test-failure');
    },
  };
  const options = { config: 'test/faults/vitest.config.mjs', watch: false, reporters: [reporter] };
  const vitest = await createVitest('test', options);

  process.on('message', async ({ name, tests: [project, file] }) => {
    const places = (faults.find((fault) => fault.name === name)?.plant ?? []).map(placeOf);
    process.env.FAULT = name ?? '';
    failure = undefined;
    for (const place of places) vitest.invalidateFile(place.file);
    const specifications = await vitest.globTestSpecifications([file]);
    const { testModules } = await vitest.runTestSpecifications(
      specifications.filter((specification) => specification.project.name === project),
    );
    for (const place of places) vitest.invalidateFile(place.file);
    const errors = testModules.flatMap((module) => module.errors());
    const problem = testModules.length === 0 ? 'there is no such test file' : errors[0]?.message;
    process.send({ failure, problem, isDone: true });
  });
  process.on('disconnect', () => vitest.close());
}

process.env.TEST_EFFORT = 'small';
if (process.send) await serve();
else await main(process.argv.slice(2));
