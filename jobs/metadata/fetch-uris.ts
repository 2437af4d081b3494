import { type Address, decodeAbiParameters, encodeFunctionData, parseAbi, size } from "viem";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import type { ChainClient } from "../chain/client.ts";
import {
  BasisReorged,
  type ChainCall,
  type ChainCallOutcome,
  fetchReadBasis,
  maxReturnedBytes,
  type ReadBasis,
} from "../chain/contract-calls.ts";
import { executeCalls } from "../chain/execute-calls.ts";
import { ResponseTooLarge, RpcFailure } from "../chain/rpc.ts";

/** The metadata URI of a token, or of the contract without a token id. */
export type UriQuery = { contract: Address; tokenId: bigint | null; standard: 721 | 1155 };

/**
 * The URI, or why there is none, and the block at which it was read; undefined: no result from the node. `isTooLarge`:
 * the call cost more than its answer.
 */
export type UriResult = (UriAnswer & { basis: ReadBasis }) | undefined;
type UriAnswer = { uri: string } | { fault: string; isTooLarge?: true };

/** On-chain images need much gas. For a separate call; joined calls share the batch's gas. */
const callGas = 15_000_000n;

const tooLarge: UriAnswer = {
  fault: `the contract's URI is larger than ${maxReturnedBytes} bytes`,
  isTooLarge: true,
};

const contractUriAbi = parseAbi(["function contractURI() view returns (string)"]);

/** Answers of one contract that are found too large, before the rest of it is left for later. */
const tooLargePerContract = 4;

/**
 * Fetches URIs from contracts. When one contract makes the request fail, each is called separately, so that only its
 * URIs stay unknown. Throws `RpcFailure`.
 */
export async function fetchUris(
  client: ChainClient,
  queries: readonly UriQuery[],
): Promise<UriResult[]> {
  try {
    return await fetchTogether(client, queries);
  } catch (error) {
    if (error instanceof BasisReorged) return await fetchTogether(client, queries);
    if (error instanceof RpcFailure) return await fetchByContract(client, queries);
    throw error;
  }
}

async function fetchTogether(
  client: ChainClient,
  queries: readonly UriQuery[],
): Promise<UriResult[]> {
  const calls = queries.map(callOf);
  const basis = await fetchReadBasis(client);
  const outcomes = await executeCalls(client, basis, calls, { tooLarge: "throw" });
  return outcomes.map((outcome) => parseOutcome(outcome, basis));
}

async function fetchByContract(
  client: ChainClient,
  queries: readonly UriQuery[],
): Promise<UriResult[]> {
  const results: UriResult[] = queries.map(() => undefined);
  for (const contract of new Set(queries.map((query) => query.contract))) {
    // Throws when the node itself is down.
    const basis = await fetchReadBasis(client);
    const own = [...queries.entries()].filter(([, query]) => query.contract === contract);
    const calls = own.map(([, query]) => callOf(query));
    const outcomes = await callContract(client, basis, calls).catch((error: unknown) => {
      if (error instanceof RpcFailure) return [];
      throw error;
    });
    own.forEach(([index], offset) => {
      results[index] = parseOutcome(outcomes[offset], basis);
    });
  }
  return results;
}

/** Calls of one contract: one by one when their answers together are too large, until some are too large by themselves. */
async function callContract(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ChainCall[],
): Promise<ChainCallOutcome[]> {
  try {
    return await executeCalls(client, basis, calls, { tooLarge: "throw" });
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
  }
  const outcomes: ChainCallOutcome[] = [];
  for (const call of calls) {
    const [outcome] = await executeCalls(client, basis, [call]);
    outcomes.push(outcome);
    const tooMany = outcomes.filter((one) => one !== undefined && "isTooLarge" in one);
    if (tooMany.length >= tooLargePerContract) break;
  }
  return outcomes;
}

function callOf({ contract, tokenId, standard }: UriQuery): ChainCall {
  return { to: contract, data: dataOf(tokenId, standard), gas: callGas };
}

function dataOf(tokenId: bigint | null, standard: 721 | 1155) {
  if (tokenId === null) return encodeFunctionData({ abi: contractUriAbi });
  return standard === 1155
    ? encodeFunctionData({ abi: erc1155Abi, functionName: "uri", args: [tokenId] })
    : encodeFunctionData({ abi: erc721Abi, functionName: "tokenURI", args: [tokenId] });
}

function parseOutcome(outcome: ChainCallOutcome, basis: ReadBasis): UriResult {
  return outcome && { ...parseAnswer(outcome), basis };
}

function parseAnswer(outcome: NonNullable<ChainCallOutcome>): UriAnswer {
  if ("reverted" in outcome) {
    return outcome.isTooLarge ? tooLarge : { fault: "the contract's URI call reverted" };
  }
  if (size(outcome.returned) > maxReturnedBytes) return tooLarge;
  try {
    const [uri] = decodeAbiParameters([{ type: "string" }], outcome.returned);
    return { uri };
  } catch {
    return { fault: "the contract's URI is not a string" };
  }
}
