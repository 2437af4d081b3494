import type { Logger } from "pino";
import { isCurrent, readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { advance, type Tick } from "#projections/engine/tick.ts";
import type { Database } from "#projections/log/database.ts";
import { openSwitch } from "#projections/log/operators.ts";
import { schemaOf } from "#projections/log/versions.ts";
import type { Job } from "../runner/job.ts";
import { createPolledSignal, type Signal } from "../runner/signals.ts";

const RETRY_MS = 1_000;

type ProjectorOptions = {
  db: Database;
  targets: readonly Target[];
  changeSignal: Signal;
  logger: Logger;
  /** Whether this process still holds the role's lock. */
  holds: () => boolean | Promise<boolean>;
  onTick: (tick: Tick) => void;
};

/** Keeps the projections at the log's head. */
export function projecting(options: ProjectorOptions): Job {
  const { db, targets, changeSignal, logger, holds } = options;
  const isPaused = openSwitch(db, "projecting");
  const polled = createPolledSignal(changeSignal);
  return {
    name: "projecting",
    wakesOn: polled,
    retry: { firstMs: RETRY_MS, mostMs: RETRY_MS, isWoken: true },
    async run() {
      if (!(await holds())) return "ended";
      if (await isPaused()) return undefined;
      const tick = await advance(db, targets);
      if (tick.outcome === "quarantined") {
        logger.error({ err: tick.failure }, "fact quarantined, see `op quarantine list`");
        return "more";
      }
      options.onTick(tick);
      if (tick.outcome !== "moved") return undefined;
      polled.found();
      return "more";
    },
  };
}

/**
 * Whether projections have been derived by this version and from these parameters. During an upgrade the tables of the
 * version before are served, which may lack columns.
 */
export async function areDerived(
  db: Database,
  projections: readonly Projection[],
): Promise<boolean> {
  const checkpoints = await readCheckpoints(db);
  return projections.every((projection) => {
    const checkpoint = checkpoints.get(schemaOf(projection.name));
    return checkpoint !== undefined && isCurrent(checkpoint, projection);
  });
}
