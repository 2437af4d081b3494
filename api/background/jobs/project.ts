import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { advance } from "../../../projections/engine/advance.ts";
import type { Target } from "../../../projections/engine/checkpoint.ts";
import type { Tick } from "../../../projections/engine/tick.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import { createPolledSignal } from "../log-signal/polled-signal.ts";
import type { Signal } from "../log-signal/signal.ts";

const RETRY_MS = 1_000;

type ProjectorOptions = {
  db: Database;
  targets: readonly Target[];
  changeSignal: Signal;
  logger: Logger;
  signal: AbortSignal;
  /** Whether this process still holds the role's lock. */
  holds: () => boolean | Promise<boolean>;
  onTick: (tick: Tick) => void;
};

/** Keeps the projections at the log's head until `signal` is aborted. */
export async function runProjector(options: ProjectorOptions): Promise<void> {
  const { db, targets, changeSignal, logger, signal, holds } = options;
  const isPaused = openSwitch(db, "projecting");
  const polled = createPolledSignal(changeSignal);
  while (!signal.aborted && (await holds())) {
    try {
      if (await isPaused()) {
        await polled.wait(signal);
        continue;
      }
      const tick = await advance(db, targets);
      if (tick.outcome === "quarantined") {
        logger.error({ err: tick.failure }, "fact quarantined, see `op quarantine list`");
        continue;
      }
      options.onTick(tick);
      if (tick.outcome === "moved") polled.found();
      else await polled.wait(signal);
    } catch (error) {
      logger.error({ err: error }, "projecting failed, retrying");
      await polled.wait(signal, RETRY_MS);
    }
  }
}
