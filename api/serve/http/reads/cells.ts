import type { Request } from "express";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { minPosition, positionByChain } from "./position.ts";
import type { PositionedReads } from "./positioned-reads.ts";

/** A database, and the chains whose log it holds. */
export type Cell<Own extends object = object> = {
  readonly chains: readonly number[];
  readonly reads: PositionedReads;
  /** What the handlers of its chains use, in place of what the context has. */
  readonly own: Own;
};

/** The databases that answers are read from, at least one. Each request is about one chain, and so about one of them. */
export type SomeCells<Own extends object = object> = readonly [Cell<Own>, ...Cell<Own>[]];

export type Cells<Own extends object = object> = {
  /** At this moment: a chain may be moved to another. */
  readonly all: () => SomeCells<Own>;
};

/** The cell of a chain; of one that is not served the first, which refuses it. */
export function cellOf<Own extends object>({ all }: Cells<Own>, chainId: unknown): Cell<Own> {
  const cells = all();
  const [first] = cells;
  // As it was sent: anything may be in a body.
  const asked = typeof chainId === "string" || typeof chainId === "number" ? `${chainId}` : "";
  return cells.find(({ chains }) => chains.some((one) => `${one}` === asked)) ?? first;
}

/** `X-Position`: a number, or, where chains have logs of their own, one for each chain of the log that was read. */
export function positionIn<Own extends object>(
  cells: Cells<Own>,
  { chains }: Cell<Own>,
  at: bigint,
): string {
  return cells.all().length === 1 ? at.toString() : positionByChain(chains, at);
}

/** The position that a request names for the log of a cell; 0 where it names none, or something that is none. */
export function positionFor(request: Request, { chains }: Pick<Cell, "chains">): bigint {
  const asked = minPosition(request, chains);
  return isRejection(asked) ? 0n : asked;
}
