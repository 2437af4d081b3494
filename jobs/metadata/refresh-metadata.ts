import { sql } from "kysely";
import type { Logger } from "pino";
import { inSnapshot } from "#projections/engine/snapshot.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database, Session } from "#projections/log/database.ts";
import {
  type DueFilter,
  endRequests,
  isMetadataAtLeastAt,
  type MetadataTarget,
  readChanged,
  readDueAgain,
  readPendingContracts,
  readPendingTokens,
  readRequested,
} from "#projections/metadata/read-due-metadata.ts";
import type { ChainClient } from "../chain/client.ts";
import type { Job, Waker } from "../runner/job.ts";
import { createCooldowns } from "../runner/limits.ts";
import {
  createStorageMeter,
  createUnpaidBudget,
  type PassResult,
  type StorageMeter,
  type UnpaidBudget,
} from "./contract-budget.ts";
import type { DocumentFetcher } from "./document-fetcher.ts";
import { type FetchOutcome, fetchDue } from "./fetch-due.ts";

const pollMs = 5_000;
const hourMs = 3_600_000;
const contractCooldown = { failuresUntilCooldown: 1, firstMs: hourMs / 12, mostMs: hourMs };
/** Of contracts whose documents are at a host that is left alone: as long as the host is at first. */
const hostCooldown = { failuresUntilCooldown: 1, firstMs: 60_000, mostMs: hourMs };
/** Of contracts whose documents fill the disk: in the end they may add the bytes of one pass a day. */
const storageCooldown = { failuresUntilCooldown: 1, firstMs: hourMs / 2, mostMs: 24 * hourMs };

type RefreshOptions = {
  db: Database;
  client: ChainClient;
  fetcher: DocumentFetcher;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  now: () => Date;
  logger: Logger;
};

type RefreshState = {
  select: typeof selectDue;
  /** Log head after the last appended fact. What is due is known only once it is applied; null: before the first pass. */
  head: bigint | null;
  turns: Turns;
  meter: StorageMeter;
  unpaid: UnpaidBudget;
  cooldowns: Record<"costly" | "waiting" | "bulky", ReturnType<typeof createCooldowns<number>>>;
};

/**
 * Fetches metadata of a chain's new tokens and contracts, and again periodically, when contracts say that it changed and
 * when callers ask for it.
 */
export function metadataRefresh(options: RefreshOptions): Job[] {
  const now = () => options.now().getTime();
  const shared = {
    meter: createStorageMeter(),
    unpaid: createUnpaidBudget(now),
    cooldowns: {
      costly: createCooldowns<number>({ now, ...contractCooldown }),
      waiting: createCooldowns<number>({ now, ...hostCooldown }),
      bulky: createCooldowns<number>({ now, ...storageCooldown }),
    },
  };
  const selections = { due: selectDue, urgent: selectUrgent, others: selectOthers };
  return Object.entries(selections).map(([selection, select]) =>
    refresh(options, selection, { ...shared, select, turns: firstTurns(), head: null }),
  );
}

function refresh(options: RefreshOptions, selection: string, state: RefreshState): Job {
  const { db, client, changeSignal, logger } = options;
  const { chainId } = client;
  return {
    name: "metadata",
    about: { chainId, selection },
    every: pollMs,
    wakesOn: changeSignal,
    reads: ["metadata", "ownership", "sales"],
    async run(signal) {
      // Waits until facts appended before this process started are applied: nothing is fetched twice.
      state.head ??= await readLogHead(db);
      if (!(await isMetadataAtLeastAt(db, state.head))) return undefined;
      const { recorded } = await fetchPass({ ...options, signal }, state);
      if (recorded === 0) return undefined;
      logger.debug({ chainId, facts: recorded }, "metadata recorded");
      return "more";
    },
  };
}

async function fetchPass(
  options: RefreshOptions & { signal: AbortSignal },
  state: RefreshState,
): Promise<FetchOutcome> {
  const { db, client } = options;
  const { meter, unpaid, cooldowns, turns } = state;
  const resting = Object.values(cooldowns).flatMap((one) => one.coolingDown());
  const pausedContractIds = [...resting, ...unpaid.paused()];
  const filter = { chainId: client.chainId, now: options.now(), pausedContractIds };
  const due = await state.select(db, filter, turns);
  const outcome = await fetchDue({ ...options, meter, unpaid }, due);
  noteResults(options, state, outcome.results);
  if (outcome.recorded > 0) state.head = outcome.head;
  if (state.select === selectUrgent && outcome.answered.length > 0)
    await endRequests(db, client.chainId, outcome.answered);
  return outcome;
}

/** What rests for a while: contracts that cost too much, or are over a budget on the disk. */
function noteResults(
  { client: { chainId }, logger }: RefreshOptions,
  { cooldowns }: RefreshState,
  results: FetchOutcome["results"],
): void {
  for (const [contractId, result] of results) {
    noteResult(cooldowns, contractId, result);
    if (result === "bulky" || result === "unpaid") {
      const about = { chainId, contractId };
      logger.info(about, "metadata fetching paused, contract is over its storage budget");
    }
  }
}

function noteResult(
  { costly, waiting, bulky }: RefreshState["cooldowns"],
  contractId: number,
  result: PassResult,
): void {
  if (result !== "costly") costly.recordSuccess(contractId);
  if (result !== "waiting") waiting.recordSuccess(contractId);
  if (result === "served") bulky.recordSuccess(contractId);
  const rests = { costly, waiting, bulky, served: null, unpaid: null };
  rests[result]?.recordFailure(contractId);
}

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
async function selectUrgent(
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
async function selectOthers(
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
