import { readFileSync } from "node:fs";

/**
 * The longest that this process kept its event loop from anything else, in milliseconds: the CPU time that the main
 * thread used between two looks of a timer, so that what other processes do to the clock does not count.
 */
export function watchEventLoop(): { stop(): number } {
  let longest = 0;
  let [at, cpu] = [performance.now(), threadCpuMs()];
  const look = () => {
    const [now, used] = [performance.now(), threadCpuMs()];
    longest = Math.max(longest, Math.min(now - at, used - cpu));
    [at, cpu] = [now, used];
  };
  const timer = setInterval(look, 5);
  return {
    stop() {
      look();
      clearInterval(timer);
      return longest;
    },
  };
}

/** First figure of schedstat: nanoseconds on a CPU. */
function threadCpuMs(): number {
  const stat = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8");
  return Number(stat.split(" ")[0]) / 1e6;
}
