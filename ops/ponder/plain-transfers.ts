import type { Address } from "viem";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import {
  type ContractResult,
  callContracts,
  fetchReadBasis,
  haveCode,
} from "#jobs/chain/contract-calls.ts";
import { hasOtherTransfers, standardCalls } from "#jobs/collections/token-standard.ts";
import type { Job } from "#jobs/runner/job.ts";
import type { Database } from "#projections/log/database.ts";
import {
  addSources,
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
 * Adds the sources of transfers whose id is not indexed for each named contract that is deployed, claims
 * no standard by ERC-165 and answers nothing that a coin does: an ERC-20's Transfer has the same topics, and its amounts
 * are no tokens. They have an indexer of their own, so that nothing else is indexed again.
 */
export function plainTransfers({ db, chain, curated }: PlainOptions): Job {
  const client = openChainClient(chain);
  let open = namedCollections(chain, curated).map(({ address }) => address);
  return {
    name: "plain transfers",
    about: { chainId: chain.chainId },
    every: pollMs,
    retry: { firstMs: pollMs, mostMs: pollMs },
    async run() {
      if (open.length > 0) open = await addAnswering(db, client, open);
      return open.length === 0 ? "ended" : undefined;
    },
  };
}

/** Returns the contracts that are not known to be a coin or a token yet. */
async function addAnswering(
  db: Database,
  client: ChainClient,
  addresses: readonly Address[],
): Promise<Address[]> {
  const sources = await readSources(db, client.chainId);
  const added = new Set(sources.map((one) => plainContract(one)));
  const asked = addresses.filter((address) => !added.has(address));
  const { others, tokens } = await askContracts(client, asked);
  if (tokens.length > 0) await addPlain(db, client.chainId, tokens);
  const known = new Set([...others, ...tokens]);
  return asked.filter((address) => !known.has(address));
}

/** Contracts with code that have transfers of other shapes, and those that have none. */
async function askContracts(
  client: ChainClient,
  addresses: readonly Address[],
): Promise<{ others: Address[]; tokens: Address[] }> {
  const asks = standardCalls([]);
  const basis = await fetchReadBasis(client);
  const codes = await haveCode(client, basis, addresses);
  const deployed = addresses.filter((_, index) => codes[index] === true);
  const calls = deployed.flatMap((to) => asks.map((data) => ({ to, data })));
  const answers = await callContracts(client, basis, calls);
  const answersOf = (index: number): ContractResult[] =>
    answers.slice(index * asks.length, (index + 1) * asks.length);
  const known = deployed
    .map((address, index) => ({ address, answers: answersOf(index) }))
    .filter((one) => !one.answers.includes(undefined));
  const addressesOf = (isToken: boolean) =>
    known.flatMap(({ address, answers }) =>
      hasOtherTransfers(answers) === isToken ? [address] : [],
    );
  return { others: addressesOf(false), tokens: addressesOf(true) };
}

async function addPlain(
  db: Database,
  chainId: number,
  addresses: readonly Address[],
): Promise<void> {
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
