import type { Logger } from "pino";
import type { BuildProgress } from "#projections/engine/rebuild.ts";

const logEveryMs = 10_000;

export type DerivationLog = { onProgress(progress: BuildProgress): void; end(): void };

/** Logs the derivation of projections at the start: what is being derived every ten seconds, and the total at its end. */
export function openDerivationLog(logger: Logger): DerivationLog {
  const startedAt = performance.now();
  const projections = new Set<string>();
  let latest: BuildProgress | undefined;
  const timer = setInterval(() => {
    if (latest === undefined) return;
    const { projection, position, head, step } = latest;
    const fields = { projection, step, position: Number(position), logHead: Number(head) };
    logger.info(fields, "deriving projection");
  }, logEveryMs);
  return {
    onProgress(progress) {
      latest = progress;
      projections.add(progress.projection);
    },
    end() {
      clearInterval(timer);
      if (latest === undefined) return;
      const durationMs = Math.round(performance.now() - startedAt);
      const fields = { projections: projections.size, logHead: Number(latest.head), durationMs };
      logger.info(fields, "projections derived");
    },
  };
}
