/** Loaded into a measured server. For each message from the parent, sends the cost of the process since the last message. */
const { monitorEventLoopDelay } = require('node:perf_hooks');

/** Milliseconds: the interval of the timer that measures delays, which they include. */
const resolution = 5;

const delay = monitorEventLoopDelay({ resolution });
delay.enable();
let cpu = process.cpuUsage();

process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  process.send?.({
    cpuSeconds: (user + system) / 1e6,
    blockedMilliseconds: Math.max(0, delay.max / 1e6 - resolution),
    residentBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
  });
  delay.reset();
});
process.channel?.unref();
