import { type Address, decodeAbiParameters, encodeFunctionData, parseAbi } from "viem";
import { erc721Abi, erc1155Abi } from "../../../abis/tokens.ts";
import { type CallOutcome, type ChainCall, makeCalls } from "../chain/call-batch.ts";
import type { ChainClient } from "../chain/clients.ts";
import { BasisMoved, fetchReadBasis } from "../chain/contract-calls.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";

/** Of a token where its metadata is; without one, of the contract. */
export type UriQuestion = { contract: Address; tokenId: bigint | null; standard: 721 | 1155 };

/** What the contract says; or why it says nothing; undefined: the node did not say. */
export type UriAnswer = { uri: string } | { fault: string } | undefined;

/** Drawing a picture takes more than any other read. Alone, that is: in company a contract shares what they have. */
const callGas = 15_000_000n;

const contractUriAbi = parseAbi(["function contractURI() view returns (string)"]);

/**
 * Asks contracts for URIs. Where one of them keeps the node from answering, each is asked by itself, and only what that
 * one would say stays unknown. Throws `RpcFailure` when the chain cannot be asked.
 */
export async function askUris(
  client: ChainClient,
  questions: readonly UriQuestion[],
): Promise<UriAnswer[]> {
  try {
    return await askTogether(client, questions);
  } catch (error) {
    if (error instanceof BasisMoved) return await askTogether(client, questions);
    if (error instanceof RpcFailure) return await askApart(client, questions);
    throw error;
  }
}

async function askTogether(
  client: ChainClient,
  questions: readonly UriQuestion[],
): Promise<UriAnswer[]> {
  const outcomes = await makeCalls(client, await fetchReadBasis(client), questions.map(callOf));
  return outcomes.map(answerOf);
}

async function askApart(
  client: ChainClient,
  questions: readonly UriQuestion[],
): Promise<UriAnswer[]> {
  const answers: UriAnswer[] = questions.map(() => undefined);
  for (const contract of new Set(questions.map((question) => question.contract))) {
    // Throws where the node is gone: then nobody is to blame but the node.
    const basis = await fetchReadBasis(client);
    const own = [...questions.entries()].filter(([, question]) => question.contract === contract);
    const calls = own.map(([, question]) => callOf(question));
    const outcomes = await makeCalls(client, basis, calls).catch((error: unknown) => {
      if (error instanceof RpcFailure) return [];
      throw error;
    });
    own.forEach(([index], place) => {
      answers[index] = answerOf(outcomes[place]);
    });
  }
  return answers;
}

function callOf({ contract, tokenId, standard }: UriQuestion): ChainCall {
  return { to: contract, data: dataOf(tokenId, standard), gas: callGas };
}

function dataOf(tokenId: bigint | null, standard: 721 | 1155) {
  if (tokenId === null) return encodeFunctionData({ abi: contractUriAbi });
  return standard === 1155
    ? encodeFunctionData({ abi: erc1155Abi, functionName: "uri", args: [tokenId] })
    : encodeFunctionData({ abi: erc721Abi, functionName: "tokenURI", args: [tokenId] });
}

function answerOf(outcome: CallOutcome): UriAnswer {
  if (outcome === undefined) return undefined;
  if ("refused" in outcome) return { fault: "the contract refuses to say where it is" };
  try {
    const [uri] = decodeAbiParameters([{ type: "string" }], outcome.returned);
    return { uri };
  } catch {
    return { fault: "the contract does not say where it is" };
  }
}
