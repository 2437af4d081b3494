/** Consecutive token ids, from `first` to before `end`. */
export type Ids = { readonly first: bigint; readonly end: bigint };

/** Ids with the place in chain order of the transfer that they are of. */
export type Run = Ids & { readonly blockId: bigint; readonly logIndex: number };

/** Latest transfer first. */
export function byRecency(one: Run, other: Run): number {
  if (one.blockId !== other.blockId) return one.blockId > other.blockId ? -1 : 1;
  return other.logIndex - one.logIndex;
}

function byFirst(one: Ids, other: Ids): number {
  if (one.first === other.first) return 0;
  return one.first < other.first ? -1 : 1;
}

const isSame = (one: Run, other: Run) =>
  one.blockId === other.blockId && one.logIndex === other.logIndex;

/**
 * Of runs that overlap in any way, for each id the run of the latest transfer: disjoint, by id. Each piece between two
 * bounds is given away once (a union-find of the next free piece), so n runs take n log n and give fewer than 2n.
 */
export function latestRuns<Of extends Run>(runs: readonly Of[]): Of[] {
  const bounds = [...new Set(runs.flatMap(({ first, end }) => [first, end]))].sort((a, b) =>
    a < b ? -1 : 1,
  );
  const placeOf = new Map(bounds.map((bound, place) => [bound, place]));
  const nextFree = bounds.map((_, place) => place);
  const owners: (Of | undefined)[] = bounds.map(() => undefined);
  for (const run of [...runs].sort(byRecency)) {
    const end = placeOf.get(run.end) ?? 0;
    for (let at = freeFrom(nextFree, placeOf.get(run.first) ?? 0); at < end; ) {
      owners[at] = run;
      nextFree[at] = at + 1;
      at = freeFrom(nextFree, at + 1);
    }
  }
  const pieces = owners.flatMap((run, place) =>
    run === undefined ? [] : [{ ...run, first: bounds[place] ?? 0n, end: bounds[place + 1] ?? 0n }],
  );
  return mergeRuns(pieces);
}

/** The first free place from one on, shortening the path to it. */
function freeFrom(nextFree: number[], place: number): number {
  let free = place;
  while ((nextFree[free] ?? free) !== free) free = nextFree[free] ?? free;
  for (let at = place; at !== free; ) {
    const next = nextFree[at] ?? free;
    nextFree[at] = free;
    at = next;
  }
  return free;
}

/** Disjoint runs by id, those of one transfer that touch joined: a set of runs has one such form. */
export function mergeRuns<Of extends Run>(runs: readonly Of[]): Of[] {
  const merged: Of[] = [];
  for (const run of [...runs].sort(byFirst)) {
    const last = merged.at(-1);
    if (last !== undefined && last.end === run.first && isSame(last, run))
      merged[merged.length - 1] = { ...last, end: run.end };
    else merged.push(run);
  }
  return merged;
}

/** The union of any ids: disjoint, by id, none touching. */
export function unionOf(ids: readonly Ids[]): Ids[] {
  const union: Ids[] = [];
  for (const { first, end } of [...ids].sort(byFirst)) {
    const last = union.at(-1);
    if (last === undefined || last.end < first) union.push({ first, end });
    else if (last.end < end) union[union.length - 1] = { first: last.first, end };
  }
  return union;
}

/** The parts of disjoint runs that are in `areas`, both by id. */
export function within<Of extends Ids>(runs: readonly Of[], areas: readonly Ids[]): Of[] {
  const parts: Of[] = [];
  let [at, place] = [0, 0];
  for (;;) {
    const [run, area] = [runs[at], areas[place]];
    if (run === undefined || area === undefined) return parts;
    const part = { ...run, ...overlapOf(run, area) };
    if (part.first < part.end) parts.push(part);
    if (area.end < run.end) place += 1;
    else at += 1;
  }
}

/** Empty where the one ends before the other begins. */
const overlapOf = (one: Ids, other: Ids): Ids => ({
  first: one.first > other.first ? one.first : other.first,
  end: one.end < other.end ? one.end : other.end,
});

/** The parts of disjoint runs that are not in `areas`, both by id. */
export function without<Of extends Ids>(runs: readonly Of[], areas: readonly Ids[]): Of[] {
  const first = runs[0]?.first;
  const end = runs.at(-1)?.end;
  if (first === undefined || end === undefined) return [];
  const gaps: Ids[] = [];
  let from = first;
  for (const area of areas) {
    if (area.first > from) gaps.push({ first: from, end: area.first });
    if (area.end > from) from = area.end;
  }
  if (from < end) gaps.push({ first: from, end });
  return within(runs, gaps);
}
