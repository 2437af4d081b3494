// Runs in Ponder's process before Ponder. JavaScript, because nothing compiles it there.
import { syncBuiltinESMExports } from "node:module";
import perfHooks from "node:perf_hooks";

// Ponder measures its event loop's delay each millisecond, which nobody reads: a thousand timers a second took 2 % of
// a core.
const { monitorEventLoopDelay } = perfHooks;
perfHooks.monitorEventLoopDelay = (options) =>
  monitorEventLoopDelay({ ...options, resolution: 1_000 });
syncBuiltinESMExports();
