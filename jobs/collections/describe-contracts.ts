import type { Logger } from "pino";
import { type Address, encodeFunctionData, type Hex, keccak256, stringToHex } from "viem";
import { cryptopunksAddress } from "#abis/cryptopunks.ts";
import { erc721Abi } from "#abis/tokens.ts";
import {
  areCollectionsAtLeastAt,
  type LoggedToken,
  readContractsWithoutDescription,
  readNewestTokens,
} from "#projections/collections/read-undescribed-contracts.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainClient } from "../chain/client.ts";
import {
  type ContractResult,
  callContracts,
  fetchReadBasis,
  haveCode,
  type ReadBasis,
} from "../chain/contract-calls.ts";
import type { Job, Waker } from "../runner/job.ts";
import { type UnansweredContracts, unansweredContracts } from "../runner/limits.ts";
import { detectStandard, parseContractText, standardCalls } from "./token-standard.ts";

const pollMs = 5_000;

type DescribeOptions = {
  db: Database;
  client: ChainClient;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  logger: Logger;
};

/** Reads name, symbol and standard of each new contract of a chain. */
export function contractDescriptions({ db, client, changeSignal, logger }: DescribeOptions): Job {
  const { chainId } = client;
  let state: DescribeState | undefined;
  return {
    name: "contract descriptions",
    about: { chainId },
    every: pollMs,
    wakesOn: changeSignal,
    reads: ["collections"],
    async run(signal) {
      // Waits until descriptions appended before this process started are applied: no contract is read twice.
      state ??= { head: await readLogHead(db), unanswered: unansweredContracts() };
      if (!(await areCollectionsAtLeastAt(db, state.head))) return;
      const described = await describePending(db, client, state, signal);
      if (described > 0) logger.debug({ chainId, contracts: described }, "contracts described");
    },
  };
}

/** What the job remembers of a chain between two passes. */
export type DescribeState = {
  /** Log head after the last appended description. Pending contracts are known only once it is applied. */
  head: bigint;
  /** Contracts without code or without an answer of the node. */
  readonly unanswered: UnansweredContracts;
};

/** Contracts looked up at once: finding the next ones costs as much as all that are pending. */
const contractsPerPage = 2_000;
/** Contracts described by one append: each is a transaction, and one more for the projections. */
const contractsPerAppend = 100;
/** Contracts whose calls are joined: they share a request's gas. */
const contractsPerCall = 20;

/**
 * Reads name, symbol and standard of every contract of the chain that lacks them and appends them batch by batch.
 * Throws `RpcFailure`; batches appended before are kept.
 */
export async function describePending(
  db: Database,
  client: ChainClient,
  state: DescribeState,
  signal: AbortSignal,
): Promise<number> {
  let described = 0;
  let after: Address | null = null;
  while (!signal.aborted) {
    const found: Address[] = await readContractsWithoutDescription(
      db,
      client.chainId,
      after,
      contractsPerPage,
    );
    after = found.at(-1) ?? null;
    if (after === null) break;
    const due = found.filter((address) => !state.unanswered.isCoolingDown(address));
    for (let start = 0; start < due.length && !signal.aborted; start += contractsPerAppend) {
      const addresses = due.slice(start, start + contractsPerAppend);
      described += await describeBatch(db, client, state, addresses);
    }
  }
  return described;
}

async function describeBatch(
  db: Database,
  client: ChainClient,
  state: DescribeState,
  addresses: readonly Address[],
): Promise<number> {
  const facts: Observation[] = [];
  for (let start = 0; start < addresses.length; start += contractsPerCall) {
    const called = addresses.slice(start, start + contractsPerCall);
    facts.push(...(await readDescriptions(db, client, called)));
  }
  const answered = new Set(facts.map(({ contract }) => contract));
  for (const address of addresses) {
    if (!answered.has(address)) state.unanswered.recordFailure(address);
  }
  if (facts.length > 0) state.head = (await appendObservations(db, facts)).head;
  return facts.length;
}

const textCalls: readonly Hex[] = [
  encodeFunctionData({ abi: erc721Abi, functionName: "name" }),
  encodeFunctionData({ abi: erc721Abi, functionName: "symbol" }),
];

/** Tokens whose owner a contract is asked for. */
const tokensPerContract = 3;

async function readDescriptions(
  db: Database,
  client: ChainClient,
  addresses: readonly Address[],
): Promise<Observation[]> {
  const basis = await fetchReadBasis(client);
  const newest = await readNewestTokens(db, client.chainId, addresses, tokensPerContract);
  const asked = addresses.map((address) => {
    const tokens = newest.filter(({ contract }) => contract === address);
    return { address, tokens, calls: [...textCalls, ...standardCalls(tokens)] };
  });
  const calls = asked.flatMap(({ address: to, calls: own }) => own.map((data) => ({ to, data })));
  const returned = await callContracts(client, basis, calls);
  let read = 0;
  const results = asked.map(({ calls: own, ...contract }) => {
    const answers = returned.slice(read, read + own.length);
    read += own.length;
    return { ...contract, answers };
  });
  const silent = results.filter(({ answers }) =>
    answers.every((answer) => !answer || answer === "0x"),
  );
  const absent = await findWithoutCode(
    client,
    basis,
    silent.map(({ address }) => address),
  );
  return results
    .filter(({ address, answers }) => !answers.includes(undefined) && !absent.has(address))
    .map((one) => descriptionFact(client.chainId, basis, one));
}

/** Contracts not deployed yet, destroyed, or without an answer of the node. */
async function findWithoutCode(
  client: ChainClient,
  basis: ReadBasis,
  addresses: readonly Address[],
): Promise<Set<Address>> {
  if (addresses.length === 0) return new Set();
  const codes = await haveCode(client, basis, addresses);
  return new Set(addresses.filter((_, index) => codes[index] !== true));
}

type Described = {
  address: Address;
  tokens: readonly LoggedToken[];
  answers: readonly ContractResult[];
};

function descriptionFact(
  chainId: number,
  { number, hash, timestamp }: ReadBasis,
  { address: contract, tokens, answers: [name, symbol, ...others] }: Described,
): Observation {
  return {
    kind: "contract_described",
    chainId,
    contract,
    identity: keccak256(
      stringToHex(JSON.stringify(["contract_described", chainId, contract, hash])),
    ),
    recordedAt: new Date(),
    basis: { number, hash, timestamp },
    payload: {
      name: parseContractText(name ?? "0x"),
      symbol: parseContractText(symbol ?? "0x"),
      // A market before the standards, whose transfers come from events of its own.
      standard: contract === cryptopunksAddress ? null : detectStandard(others, tokens),
    },
  };
}
