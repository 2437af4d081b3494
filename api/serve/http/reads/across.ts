import type { Request } from "express";
import type { Database } from "../../../../projections/database.ts";
import { type Cell, type Cells, positionFor, positionIn, type SomeCells } from "./cells.ts";
import type { PositionedReads, PositionedSnapshot } from "./positioned-reads.ts";
import { snapshotFacts } from "./snapshot-facts.ts";

/** What answers are made from: snapshots, each of one data version. */
export type SnapshotReads = Pick<PositionedReads, "inSnapshot" | "readVersion">;

type Part<Own extends object> = { readonly cell: Cell<Own>; readonly db: Database };
const parts = new WeakMap<object, readonly Part<object>[]>();

/**
 * Where the answer to a request is read: in its chain's cell, with others as one where it is about them too. Then a
 * position that it names is of one of several logs: an answer that was kept cannot be compared with it.
 */
export function readsFor<Own extends object>(
  request: Request,
  cell: Cell<Own>,
  all: readonly Cell<Own>[],
): { readonly reads: SnapshotReads; readonly isComparable: boolean } {
  if (all.length <= 1) return { reads: cell.reads, isComparable: true };
  const cells = [cell, ...all.filter(({ reads }) => reads !== cell.reads)] as const;
  const atLeast = (one: Cell<Own>) => positionFor(request, one);
  return {
    reads: readAcross(cells, atLeast),
    isComparable: cells.every((one) => atLeast(one) === 0n),
  };
}

type Opened<Own extends object> = Part<Own> & { readonly snapshot: PositionedSnapshot };
type SomeOpened<Own extends object> = readonly [Opened<Own>, ...Opened<Own>[]];

/**
 * Reads of several databases as of one: a snapshot of each, held together. `db` is the first one's; `snapshotsOf` gives
 * all. No position holds for all of them, so that it is 0; `positionOf` tells them.
 */
function readAcross<Own extends object>(
  [first, ...others]: SomeCells<Own>,
  atLeast: (cell: Cell<Own>) => bigint,
): SnapshotReads {
  type Wanted = Parameters<PositionedReads["inSnapshot"]>[0];
  type Shared = Pick<Wanted, "loadClass" | "plansOnce">;
  const sharedOf = ({ loadClass, plansOnce }: Wanted): Shared => ({ loadClass, plansOnce });
  const open = <Result>(
    cell: Cell<Own>,
    { loadClass, onBegin, plansOnce }: Omit<Wanted, "atLeast">,
    read: (opened: Opened<Own>) => Promise<Result>,
  ): Promise<Result> => {
    const own = { loadClass, plansOnce, atLeast: atLeast(cell), ...(onBegin && { onBegin }) };
    return cell.reads.inSnapshot(own, (snapshot) => read({ cell, db: snapshot.db, snapshot }));
  };
  const openOthers = <Result>(
    wanted: Shared,
    [next, ...left]: readonly Cell<Own>[],
    opened: SomeOpened<Own>,
    read: (snapshot: PositionedSnapshot) => Promise<Result>,
  ): Promise<Result> =>
    next === undefined
      ? read(joined(opened))
      : open(next, wanted, (one) => openOthers(wanted, left, [...opened, one], read));
  return {
    inSnapshot: (wanted, read) =>
      open(first, wanted, (one) => openOthers(sharedOf(wanted), others, [one], read)),
    async readVersion() {
      const versions = await Promise.all(
        [first, ...others].map(({ reads }) => reads.readVersion()),
      );
      return { version: versions.map(({ version }) => version).join("|"), position: 0n };
    },
  };
}

function joined<Own extends object>(opened: SomeOpened<Own>): PositionedSnapshot {
  const [{ snapshot: first }] = opened;
  parts.set(first.db, opened);
  const version = opened.map(({ snapshot }) => snapshot.version).join("|");
  return { ...first, version, position: 0n };
}

/** The snapshots behind a handler's `db` and the chains of each: several where it reads several databases as of one. */
export const snapshotsOf = (
  db: Database,
  chains: readonly number[],
): { db: Database; chains: readonly number[] }[] =>
  parts.get(db)?.map((part) => ({ db: part.db, chains: part.cell.chains })) ?? [{ db, chains }];

/** Of an answer that was made from one snapshot, or from several. */
export function positionOf<Own extends object>(
  cells: Cells<Own>,
  cell: Cell<Own>,
  { db, facts }: PositionedSnapshot,
): string {
  const all = parts.get(db);
  if (all === undefined) return positionIn(cells, cell, facts.answered);
  return all
    .map((part) =>
      positionIn(cells, part.cell as Cell<Own>, snapshotFacts(part.db)?.answered ?? 0n),
    )
    .join(",");
}
