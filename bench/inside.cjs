/** Loaded into a measured server. For each message from the parent, sends what the process has cost since the last one. */
const { monitorEventLoopDelay } = require('node:perf_hooks');

/** Milliseconds; the timer's own interval, which is subtracted from delays. */
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
