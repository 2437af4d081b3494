import type { Session } from "../log/database.ts";
import { applyWindow, type OpenWindow } from "./apply-window.ts";
import type { Target } from "./checkpoint.ts";
import { DerivationFailed, isPermanentError } from "./failure.ts";
import { dependsOn, runConcurrently } from "./run-concurrently.ts";

/**
 * Applies an open window to targets, each after those whose tables it reads and otherwise at once: on a connection that
 * pipelines, the server works for one of them while the statements of others are made and their answers are read. The
 * first to fail is the cause: what others have sent fails with the transaction.
 */
export async function applyTogether(
  session: Session,
  targets: readonly Target[],
  open: OpenWindow,
): Promise<void> {
  await runConcurrently(
    targets,
    (target) => applyTo(session, target, open),
    (one, other) => dependsOn(one.projection, other.projection),
    haveOwnTables(targets, open) ? targets.length : 1,
  );
}

/** Whether no two use the same tables or views of the session: those of one projection do, and those without some facts. */
const haveOwnTables = (targets: readonly Target[], { entries }: OpenWindow): boolean =>
  entries.length === 0 &&
  new Set(targets.map(({ projection }) => projection.name)).size === targets.length;

async function applyTo(session: Session, target: Target, open: OpenWindow): Promise<void> {
  try {
    await applyWindow(session, target, open);
  } catch (error) {
    if (isPermanentError(error))
      throw new DerivationFailed(target.projection.name, open.window, error);
    throw error;
  }
}
