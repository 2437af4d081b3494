import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { inSnapshot } from "#projections/engine/snapshot.ts";
import { readChanged, type DueFilter, type MetadataTarget, readDueAgain, readPendingContracts, readPendingTokens, readRequested } from "#projections/metadata/read-due-metadata.ts";

/** Size of one pass: new tokens of some contracts in turn, and some refetches. */
const contractsPerPass = 32;
const tokensPerPass = 256;
const tokensPerContract = 64;
const refetchesPerPass = 32;
const requestsPerPass = 64;

/** Whose turn it is. */
export type Turns = {
  /** The last contract of the previous pass. */
  lastContractId: number;
  /** Contracts that had their turn of refetches since all others had theirs. */
  refetched: Set<number>;
};

export const firstTurns = (): Turns => ({ lastContractId: 0, refetched: new Set() });

/**
 * What a pass fetches. Most passes find nothing, and planning would be most of their cost: statements are planned once; by
 * index also while the tables are small, since a plan is kept until the server has gathered statistics of a large one.
 */
export async function selectDue(
  db: Database,
  filter: DueFilter,
  turns: Turns,
): Promise<MetadataTarget[]> {
  const options = { projections: ["metadata"], plansOnce: true };
  return await inSnapshot(db, options, async ({ db: snapshot }) => {
    await sql`set local enable_seqscan = off`.execute(snapshot);
    return [
      ...(await readNextTokens(snapshot, filter, turns)),
      ...(await readPendingContracts(snapshot, filter, contractsPerPass)),
      ...(await readNextRefetches(snapshot, filter, turns)),
    ];
  });
}

/**
 * What changed of contracts that trade, and what callers asked for: apart from all else, so that it waits for no
 * stranger's server.
 */
export async function selectUrgent(
  db: Database,
  filter: DueFilter,
  turns: Turns,
): Promise<MetadataTarget[]> {
  const changed = await selectChanged(db, filter, turns, true);
  const requested = await inSnapshot(db, { projections: ["metadata"] }, ({ db: snapshot }) =>
    readRequested(snapshot, filter, requestsPerPass),
  );
  const nameOf = ({ contractId, tokenId }: MetadataTarget) => `${contractId} ${tokenId}`;
  const names = new Set(changed.map(nameOf));
  return [...changed, ...requested.filter((one) => !names.has(nameOf(one)))];
}

/** What changed of contracts that never traded. */
export async function selectOthers(
  db: Database,
  filter: DueFilter,
  turns: Turns,
): Promise<MetadataTarget[]> {
  return await selectChanged(db, filter, turns, false);
}

async function selectChanged(
  db: Database,
  filter: DueFilter,
  turns: Turns,
  isTraded: boolean,
): Promise<MetadataTarget[]> {
  const options = { projections: ["metadata"], plansOnce: true };
  const next = (after: number) =>
    inSnapshot(db, options, async ({ db: snapshot }) => {
      await sql`set local enable_seqscan = off`.execute(snapshot);
      const sizes = { contracts: contractsPerPass, perContract: tokensPerContract };
      return await readChanged(snapshot, { ...filter, isTraded, after, ...sizes });
    });
  const first = await next(turns.lastContractId);
  const isAtEnd = first.length === 0 && turns.lastContractId > 0;
  const changed = isAtEnd ? await next(0) : first;
  turns.lastContractId = changed.at(-1)?.contractId ?? 0;
  return changed;
}

/** Starts over with the first contract after the last one. */
async function readNextTokens(
  db: Session,
  filter: DueFilter,
  turns: Turns,
): Promise<MetadataTarget[]> {
  const sizes = { contracts: contractsPerPass, limit: tokensPerPass, tokensPerContract };
  const next = await readPendingTokens(db, filter, { after: turns.lastContractId, ...sizes });
  const isAtEnd = next.length === 0 && turns.lastContractId > 0;
  const tokens = isAtEnd ? await readPendingTokens(db, filter, { after: 0, ...sizes }) : next;
  turns.lastContractId = tokens.at(-1)?.contractId ?? 0;
  return tokens;
}

/** What is longest due, of contracts in turn: many due tokens of one do not delay the others. */
async function readNextRefetches(
  db: Session,
  filter: DueFilter,
  { refetched }: Turns,
): Promise<MetadataTarget[]> {
  const pausedContractIds = [...filter.pausedContractIds, ...refetched];
  let due = await readDueAgain(db, { ...filter, pausedContractIds }, refetchesPerPass);
  if (due.length === 0 && refetched.size > 0) {
    refetched.clear();
    due = await readDueAgain(db, filter, refetchesPerPass);
  }
  for (const { contractId } of due) refetched.add(contractId);
  return due;
}
