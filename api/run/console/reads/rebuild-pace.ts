import type { ServiceProgress } from "#api/run/inspection/read-status.ts";

/** Null: not known yet. */
export type RebuildPace = { perSecond: number | null; secondsLeft: number | null };

export type MeasureRebuilds = (
  progress: ServiceProgress,
  now: Date,
) => ReadonlyMap<string, RebuildPace>;

type Place = { position: number; at: number };

/** Measures rebuilds from the first look at their positions. One whose position does not move has no pace. */
export function openRebuildMeter(): MeasureRebuilds {
  let first = new Map<string, Place>();
  return ({ projections, logHead }, now) => {
    const seen = new Map<string, Place>();
    const paces = new Map<string, RebuildPace>();
    for (const { name, rebuilding } of projections) {
      if (rebuilding === null) continue;
      const place = { position: rebuilding.position, at: now.getTime() };
      const known = first.get(name);
      const from = known === undefined || known.position > place.position ? place : known;
      seen.set(name, from);
      paces.set(name, paceOf(from, place, logHead));
    }
    first = seen;
    return paces;
  };
}

function paceOf(from: Place, to: Place, end: number): RebuildPace {
  if (to.position <= from.position || to.at <= from.at)
    return { perSecond: null, secondsLeft: null };
  const perSecond = ((to.position - from.position) * 1_000) / (to.at - from.at);
  return { perSecond, secondsLeft: Math.ceil((end - to.position) / perSecond) };
}
