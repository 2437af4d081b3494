// Loaded into the API's process (`node --import`): tells its parent how long the event loop was kept from anything else.
// JavaScript, as it runs in a process that compiles nothing.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const lookMs = 5;
const delay = monitorEventLoopDelay({ resolution: lookMs });
delay.enable();

/** First figure of schedstat: nanoseconds of the main thread on a CPU. */
const cpuMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

let longestCpuMs = 0;
let [at, cpu] = [performance.now(), cpuMs()];

function look() {
  const [now, used] = [performance.now(), cpuMs()];
  longestCpuMs = Math.max(longestCpuMs, Math.min(now - at, used - cpu));
  [at, cpu] = [now, used];
}

setInterval(look, lookMs).unref();

process.on("message", () => {
  look();
  process.send?.({ cpuMs: longestCpuMs, wallMs: delay.max / 1e6 });
  longestCpuMs = 0;
  delay.reset();
});
process.channel?.unref();
