import type { Session } from "../database.ts";
import { applyWindow, type OpenWindow } from "./apply-window.ts";
import type { Target } from "./checkpoint.ts";
import { DerivationFailed, isPermanentError } from "./failure.ts";

/**
 * Applies an open window to targets, each after those whose tables it reads and otherwise at once: on a connection that
 * pipelines, the server works for one of them while the statements of others are made and their answers are read.
 */
export async function applyTogether(
  session: Session,
  targets: readonly Target[],
  open: OpenWindow,
): Promise<void> {
  const applying: Promise<void>[] = [];
  const byName = new Map<string, Promise<void>>();
  const canOverlap = haveOwnTables(targets, open);
  for (const target of targets) {
    const { name, reads = [] } = target.projection;
    const before = canOverlap ? reads.map((read) => byName.get(read)) : [applying.at(-1)];
    const applied = Promise.all(before).then(() => applyTo(session, target, open));
    applying.push(applied);
    byName.set(name, applied);
  }
  try {
    await Promise.all(applying);
  } catch (error) {
    // The first to fail is the cause. What others have sent fails with the transaction.
    await Promise.allSettled(applying);
    throw error;
  }
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
