import type { Address } from "viem";
import {
  contractRoyaltyStated,
  type StatedRoyalty,
  tokenRoyaltyStated,
} from "#projections/collections/facts.ts";
import { readContractRoyalties } from "#projections/collections/read-royalties.ts";
import { areCollectionsAtLeastAt } from "#projections/collections/read-undescribed-contracts.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import {
  advanceScan,
  endRoyaltyReread,
  readContractsToReread,
  readContractsWithoutRoyalty,
  readScanBatch,
} from "#projections/partners/royalty-sync.ts";
import { readUnknownFees, type UnknownFee } from "#projections/sales/read-unknown-fees.ts";
import { readReferenceTokens } from "#projections/tokens/read-token.ts";
import type { ChainClient } from "../chain/client.ts";
import { queryChain } from "../chain/query-chain.ts";
import type { Job, Waker } from "../runner/job.ts";
import { type UnansweredContracts, unansweredContracts } from "../runner/limits.ts";

const pollMs = 5_000;

type RoyaltyOptions = {
  db: Database;
  client: ChainClient;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  now: () => Date;
};

/**
 * Fetches the ERC-2981 royalty of each new contract of a chain, of those that orders found changed, and of all once a day,
 * and that of sold tokens of which somebody had a part who is not known for it. Only changes are appended.
 */
export function royaltyFetches(options: RoyaltyOptions): Job {
  const { db, client, changeSignal } = options;
  let state: RoyaltyState | undefined;
  return {
    name: "royalties",
    about: { chainId: client.chainId },
    every: pollMs,
    wakesOn: changeSignal,
    reads: ["collections", "ownership", "sales"],
    async run() {
      // Waits until readings appended before this process started are applied: no contract is read twice.
      state ??= { head: await readLogHead(db), unanswered: unansweredContracts() };
      if (!(await areCollectionsAtLeastAt(db, state.head))) return undefined;
      return (await fetchDueRoyalties(options, state)) > 0 ? "more" : undefined;
    },
  };
}

/** What the job remembers of a chain between two passes. */
export type RoyaltyState = {
  /** Log head after the last appended reading. What is due is known only once it is applied. */
  head: bigint;
  /** Contracts without an answer of the node. */
  readonly unanswered: UnansweredContracts;
  /** The last block whose sales were looked at; absent: none were. */
  soldUpTo?: bigint | null;
};

const batchSize = 100;
/** The price that contracts are called with: their answer is kept as a share of it. */
const askedWei = 10n ** 18n;

type Work = { db: Database; client: ChainClient; now: () => Date };

/**
 * One batch: contracts never read, then those to read again, then the daily scan, then sold tokens. Returns how many calls
 * were made; 0: nothing is due. Throws `RpcFailure`.
 */
export async function fetchDueRoyalties(work: Work, state: RoyaltyState): Promise<number> {
  const { db, client, now } = work;
  const { chainId } = client;
  const resting = state.unanswered.coolingDown();
  const fresh = await readContractsWithoutRoyalty(db, chainId, resting, batchSize);
  if (fresh.length > 0) return await fetchBatch(work, state, fresh, "all");
  const requested = await readContractsToReread(db, chainId, batchSize);
  if (requested.length > 0) {
    const read = await fetchBatch(work, state, requested, "changed");
    await endRoyaltyReread(db, chainId, requested, now());
    return read;
  }
  const batch = await readScanBatch(db, chainId, now(), batchSize);
  if (batch === null) return await fetchSoldTokens(work, state);
  if (batch.contracts.length > 0) await fetchBatch(work, state, batch.contracts, "changed");
  await advanceScan(db, chainId, batch);
  return batch.contracts.length;
}

/** `changed`: only answers that differ from the last reading are appended. */
async function fetchBatch(
  { db, client }: Work,
  state: RoyaltyState,
  contracts: readonly Address[],
  wanted: "all" | "changed",
): Promise<number> {
  const { chainId } = client;
  const tokens = await readReferenceTokens(db, chainId, contracts);
  const queries = contracts.map((contract) => ({
    ...({ kind: "royalty", contract, salePriceWei: askedWei } as const),
    tokenId: tokens.get(contract) ?? 0n,
  }));
  const results = await queryChain(client, queries);
  const known = await readContractRoyalties(db, chainId, contracts);
  const facts = queries.flatMap((query) => {
    const { contract } = query;
    const answer = results.find(query);
    if (answer === undefined) state.unanswered.recordFailure(contract);
    if (answer === undefined) return [];
    const royalty = shareOf(answer.royalty);
    const before = known.get(contract) ?? { recipient: null, bps: 0 };
    const isChanged = royalty.recipient !== before.recipient || royalty.bps !== before.bps;
    if (wanted === "changed" && !isChanged) return [];
    return [contractRoyaltyStated({ chainId, contract, royalty, basis: results.basis })];
  });
  if (facts.length > 0) state.head = (await appendObservations(db, facts)).head;
  return contracts.length;
}

/** Tokens of a contract may have creators of their own: the one who was paid is known once the contract says so. */
async function fetchSoldTokens({ db, client, now }: Work, state: RoyaltyState): Promise<number> {
  const { chainId } = client;
  const sold = await readUnknownFees(db, chainId, { after: state.soldUpTo ?? null, now: now() });
  const resting = new Set(state.unanswered.coolingDown());
  const asked = sold.fees.filter(({ contract }) => !resting.has(contract));
  for (let start = 0; start < asked.length; start += batchSize)
    await fetchTokens({ db, client }, state, asked.slice(start, start + batchSize));
  state.soldUpTo = sold.upTo;
  return asked.length;
}

async function fetchTokens(
  { db, client }: Pick<Work, "db" | "client">,
  state: RoyaltyState,
  sold: readonly UnknownFee[],
): Promise<void> {
  const { chainId } = client;
  const queries = sold.map(({ contract, tokenId }) => ({
    ...({ kind: "royalty", contract, tokenId, salePriceWei: askedWei } as const),
  }));
  const results = await queryChain(client, queries);
  const known = new Set<string>();
  const facts = sold.flatMap(({ contract, tokenId, recipient }, index) => {
    const query = queries[index];
    const answer = query && results.find(query);
    if (answer === undefined) state.unanswered.recordFailure(contract);
    const royalty = shareOf(answer?.royalty ?? null);
    const name = `${contract} ${recipient}`;
    if (royalty.recipient !== recipient || known.has(name)) return [];
    known.add(name);
    return [tokenRoyaltyStated({ chainId, contract, tokenId, royalty, basis: results.basis })];
  });
  if (facts.length > 0) state.head = (await appendObservations(db, facts)).head;
}

/** Rounded like the share that order parameters tell. */
function shareOf(royalty: { recipient: Address; royaltyWei: bigint } | null): StatedRoyalty {
  if (royalty === null || BigInt(royalty.recipient) === 0n) return { recipient: null, bps: 0 };
  const bps = Number((royalty.royaltyWei * 20_000n + askedWei) / (2n * askedWei));
  return bps === 0 ? { recipient: null, bps } : { recipient: royalty.recipient, bps };
}
