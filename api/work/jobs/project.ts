import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { advance } from "../../../projections/engine/advance.ts";
import type { Target } from "../../../projections/engine/checkpoint.ts";
import type { Tick } from "../../../projections/engine/tick.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import type { Wake } from "../log-signal/wake.ts";

const POLL_MS = 250;
const RETRY_MS = 1_000;

type ProjectorOptions = {
  db: Database;
  targets: readonly Target[];
  wake: Wake;
  logger: Logger;
  signal: AbortSignal;
  /** Whether the work is still this process's. */
  holds: () => boolean | Promise<boolean>;
  onTick: (tick: Tick) => void;
};

/** Keeps the projections at the log's head until told to stop. */
export async function keepProjecting(options: ProjectorOptions): Promise<void> {
  const { db, targets, wake, logger, signal, holds } = options;
  const isPaused = openSwitch(db, "projecting");
  while (!signal.aborted && (await holds())) {
    try {
      if (await isPaused()) {
        await wake.wait(POLL_MS, signal);
        continue;
      }
      const done = await advance(db, targets);
      if (done.outcome === "quarantined") {
        logger.error({ err: done.failure }, "a fact is put aside: see `op quarantine list`");
        continue;
      }
      options.onTick(done);
      if (done.outcome !== "moved") await wake.wait(POLL_MS, signal);
    } catch (error) {
      logger.error({ err: error }, "projecting failed, trying again");
      await wake.wait(RETRY_MS, signal);
    }
  }
}
