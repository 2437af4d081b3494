import type { Address, Hex } from "viem";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import {
  type ContractResult,
  callContracts,
  fetchReadBasis,
  haveCode,
  type ReadBasis,
} from "#jobs/chain/contract-calls.ts";
import {
  hasOtherTransfers,
  hasTokens,
  isClaimedErc721,
  standardCalls,
  tokenCalls,
} from "#jobs/collections/token-standard.ts";
import type { Job } from "#jobs/runner/job.ts";
import { readContractsWithoutTransfers } from "#projections/log/contracts.ts";
import type { Database } from "#projections/log/database.ts";
import {
  addSources,
  haveIndexersCaughtUp,
  type IndexedSource,
  type NewSource,
  readSources,
} from "#projections/log/sources.ts";
import type { ChainConfig, Config } from "../config/config.ts";
import { declaredCollections, type IndexedCollection, plainSources } from "./indexed-sources.ts";

type Curated = Pick<Config["curated"], "collections">;

const prefix = "plain:";

/** The contract whose transfers of other shapes a source stands for; null: it stands for something else. */
export function plainContract({ source }: Pick<IndexedSource, "source">): Address | null {
  return source.startsWith(prefix) ? (source.slice(prefix.length) as Address) : null;
}

/** The contracts that configuration names, also where those of all are indexed. */
export function namedCollections(chain: ChainConfig, curated: Curated): IndexedCollection[] {
  const { chainId } = chain;
  const collections = chain.collections === "all" ? [] : chain.collections;
  return declaredCollections({ chainId, collections }, curated) ?? [];
}

type PlainOptions = { db: Database; chain: ChainConfig; curated: Curated };

const pollMs = 10_000;

/**
 * Adds the sources of transfers whose id is not indexed for each named contract that is deployed, claims no standard by
 * ERC-165 and answers nothing that a coin does: an ERC-20's Transfer has the same topics, and its amounts are no tokens. So
 * it does for one that claims to be an ERC-721 and has tokens, where the log holds no transfer of it once the chain's
 * indexers have caught up. They have an indexer of their own, so that nothing else is indexed again.
 */
export function plainTransfers({ db, chain, curated }: PlainOptions): Job {
  const client = openChainClient(chain);
  const named = namedCollections(chain, curated).map(({ address }) => address);
  const open: OpenContracts = { unknown: named, claiming: [] };
  return {
    name: "plain transfers",
    about: { chainId: chain.chainId },
    every: pollMs,
    retry: { firstMs: pollMs, mostMs: pollMs },
    async run() {
      if (open.unknown.length > 0) await addAnswering(db, client, open);
      if (open.claiming.length > 0) await addClaiming(db, client, open);
      return open.unknown.length + open.claiming.length === 0 ? "ended" : undefined;
    },
  };
}

/** Contracts that are not known to be a coin or a token yet, and those that claim to be an ERC-721. */
type OpenContracts = { unknown: Address[]; claiming: Address[] };

async function addAnswering(db: Database, client: ChainClient, open: OpenContracts): Promise<void> {
  const sources = await readSources(db, client.chainId);
  const added = new Set(sources.map((one) => plainContract(one)));
  const asked = open.unknown.filter((address) => !added.has(address));
  const basis = await fetchReadBasis(client);
  const codes = await haveCode(client, basis, asked);
  const deployed = asked.filter((_, index) => codes[index] === true);
  const answers = await askEach(client, basis, deployed, standardCalls([]));
  const known = deployed.filter((address) => !answers.get(address)?.includes(undefined));
  const of = (is: (answers: readonly ContractResult[]) => boolean) =>
    known.filter((address) => is(answers.get(address) ?? []));
  await addPlain(db, client.chainId, of(hasOtherTransfers));
  open.claiming = [...open.claiming, ...of(isClaimedErc721)];
  open.unknown = asked.filter((address) => !known.includes(address));
}

async function addClaiming(db: Database, client: ChainClient, open: OpenContracts): Promise<void> {
  const { chainId } = client;
  const silent = await readContractsWithoutTransfers(db, chainId, open.claiming);
  open.claiming = silent;
  if (silent.length === 0 || !(await haveIndexersCaughtUp(db, chainId))) return;
  const answers = await askEach(client, await fetchReadBasis(client), silent, tokenCalls);
  const tokens = silent.filter((address) => hasTokens(answers.get(address) ?? []));
  await addPlain(db, chainId, tokens);
  open.claiming = silent.filter((address) => !tokens.includes(address));
}

/** What each contract answers, in the order of the questions. */
async function askEach(
  client: ChainClient,
  basis: ReadBasis,
  contracts: readonly Address[],
  questions: readonly Hex[],
): Promise<ReadonlyMap<Address, ContractResult[]>> {
  const calls = contracts.flatMap((to) => questions.map((data) => ({ to, data })));
  const answers = await callContracts(client, basis, calls);
  const { length } = questions;
  return new Map(
    contracts.map((one, index) => [one, answers.slice(index * length, (index + 1) * length)]),
  );
}

async function addPlain(
  db: Database,
  chainId: number,
  addresses: readonly Address[],
): Promise<void> {
  if (addresses.length === 0) return;
  const indexers = new Set((await readSources(db, chainId)).map(({ indexer }) => indexer));
  let number = 1;
  while (indexers.has(`plain-${number}`)) number += 1;
  const added = addresses.map(
    (address): NewSource => ({
      source: `${prefix}${address}`,
      indexer: `plain-${number}`,
      eventSources: plainSources([address], 0).map(({ name }) => name),
      address: null,
      firstBlock: null,
      addedBy: "configuration",
    }),
  );
  await addSources(db, chainId, added);
}
