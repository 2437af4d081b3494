// Runs in Ponder's process before Ponder. JavaScript, because nothing compiles it there.
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import perfHooks from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

// Settings come by standard input: Linux starts no process with a variable of more than 128 KiB, which are the addresses
// of 2,900 collections. They are read like variables, and not passed on to the processes that Ponder starts.
if (isMainThread) {
  const settings = JSON.parse(readFileSync(0, "utf8") || "{}");
  // biome-ignore lint/style/noProcessEnv: this is where Ponder's own environment is made
  process.env = new Proxy(process.env, {
    get: (env, name) => (Object.hasOwn(settings, name) ? settings[name] : env[name]),
  });
}

// Ponder measures its event loop's delay each millisecond, which nobody reads: a thousand timers a second took 2 % of
// a core.
const { monitorEventLoopDelay } = perfHooks;
perfHooks.monitorEventLoopDelay = (options) =>
  monitorEventLoopDelay({ ...options, resolution: 1_000 });
syncBuiltinESMExports();
