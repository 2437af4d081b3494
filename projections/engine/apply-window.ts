import type { Session } from "../log/database.ts";
import type { Checkpoint, Target } from "./checkpoint.ts";
import { withoutFacts } from "./fact-filter.ts";
import { holdsAny, readKinds, withKinds } from "./fact-window.ts";
import type { FactWindow, Projection, WindowWithKinds } from "./projection.ts";
import { excludeFacts, type QuarantineState } from "./quarantine/exclusions.ts";
import { readQuarantine } from "./quarantine/quarantine.ts";

/** An open window with the kinds of its changes, and which facts are excluded from which projection. */
export type OpenWindow = QuarantineState & { window: WindowWithKinds };

/** The same for all targets that the window is applied to. */
export async function readOpenWindow(
  session: Session,
  window: FactWindow,
  checkpoints: Map<string, Checkpoint>,
): Promise<OpenWindow> {
  const [entries, withTheirKinds] = await Promise.all([
    readQuarantine(session),
    withKinds(session, window),
  ]);
  return { checkpoints, entries, window: withTheirKinds };
}

/** Applies an open window to a target, without the facts that are excluded from it. */
export async function applyWindow(
  session: Session,
  target: Target,
  open: OpenWindow,
): Promise<void> {
  const { projection, schema } = target;
  const { window } = open;
  const excluded = await excludeFacts(session, target, window.after, open);
  if (excluded.length === 0) {
    if (handlesAny(projection, window.kinds)) await projection.apply(session, schema, window);
    return;
  }
  await withoutFacts(session, excluded, window.facts, (facts) =>
    withoutFacts(
      session,
      excluded,
      window.changes,
      async (changes) => {
        const kinds = await readKinds(session, { changes });
        await projection.apply(session, schema, { ...window, facts, changes, kinds });
      },
      "included_change",
    ),
  );
}

/** Whether changes of these kinds may change the tables of a projection. */
export function handlesAny({ handles }: Projection, kinds: ReadonlySet<number>): boolean {
  return handles === undefined || holdsAny(kinds, handles);
}
