import { type Address, decodeFunctionResult, type Hex, isHex, multicall3Abi, numberToHex } from "viem";
import { multicall3 } from "#abis/deployments.ts";
import { type BlockHeader, parseBlockHeader } from "./block-header.ts";
import type { ChainClient } from "./clients.ts";
import { isContractFault } from "./contract-fault.ts";
import { encodeCall } from "./encode-call.ts";
import { ResponseTooLarge, type RpcCall, RpcFailure, type RpcResponse } from "./rpc.ts";
import { maxResponseBytes, type RpcTarget, requestBatch } from "./rpc-batch.ts";

export type ContractCall = { to: Address; data: Hex };

/** Returned data; null: the contract reverted; undefined: no result from the node. */
export type ContractResult = Hex | null | undefined;

/** The block at which state is read. */
export type ReadBasis = BlockHeader & { hasMulticall: boolean };

/** Gas of a separate call: enough for a view through proxies, a limit for an endless loop. */
const callGas = 5_000_000n;

/** Bytes that one call of an untrusted contract may return: an on-chain document with its image. */
export const maxReturnedBytes = 65_536;

/** Limit of a response to `calls` calls: returned bytes as hex, and what surrounds them. */
export function responseLimit(calls: number): number {
  return Math.min(maxResponseBytes, calls * 2 * (maxReturnedBytes + 1_024) + 4_096);
}

/** The block was reorged away during the read; a retry at another block may succeed. */
export class BasisReorged extends RpcFailure {
  override name = "BasisMoved";
}

/** The chain's latest block, to read at. */
export async function fetchReadBasis(client: ChainClient): Promise<ReadBasis> {
  const [block, code] = await requestBatch(client, [
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_getCode", params: [multicall3, "latest"] },
  ]);
  const latest = parseBlockHeader(client.chainId, block, "latest");
  if (latest === null) throw new RpcFailure(`Chain ${client.chainId} has no latest block`);
  return { ...latest, hasMulticall: resultOf(code) !== "0x" && resultOf(code) !== undefined };
}

/**
 * Calls untrusted contracts, joined through Multicall3 if deployed. Calls that fail joined are repeated separately: one
 * hostile contract may have used up the others' gas.
 */
export async function callContracts(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractResult[]> {
  const answers = basis.hasMulticall ? await callJoined(client, basis, calls) : [];
  const open = calls.flatMap((call, index) => (answers[index] ? [] : [{ call, index }]));
  const separate = await callSeparately(
    client,
    basis,
    open.map(({ call }) => call),
  );
  const all: ContractResult[] = calls.map((_, index) => answers[index]);
  open.forEach(({ index }, place) => {
    all[index] = separate[place];
  });
  return all;
}

/** Whether each address has code; undefined: unknown. */
export async function haveCode(
  client: ChainClient,
  basis: ReadBasis,
  addresses: readonly Address[],
): Promise<(boolean | undefined)[]> {
  const height = numberToHex(basis.number);
  const calls = addresses.map((address) => ({ method: "eth_getCode", params: [address, height] }));
  const answers = await requestAt(client, basis, calls);
  return answers.map((answer) => {
    const code = resultOf(answer);
    return code === undefined ? undefined : code !== "0x";
  });
}

async function callJoined(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractResult[]> {
  try {
    const call = ethCall(basis, joinCalls(calls));
    const [answer] = await requestAt(client, basis, [call], responseLimit(calls.length));
    return splitJoinedResult(resultOf(answer)).map((one) =>
      "returned" in one ? one.returned : undefined,
    );
  } catch (error) {
    if (error instanceof RpcFailure && !(error instanceof ResponseTooLarge)) throw error;
    return [];
  }
}

/** One Multicall3 call that makes all of these. */
export function joinCalls(calls: readonly ContractCall[]): ContractCall {
  const data = encodeCall({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))],
  });
  return { to: multicall3, data };
}

/** Returned data of each joined call, or its revert data; empty if the whole call failed. */
export function splitJoinedResult(
  returned: Hex | undefined,
): ({ returned: Hex } | { reverted: Hex })[] {
  if (returned === undefined) return [];
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    data: returned,
  });
  return results.map(({ success, returnData }) =>
    success ? { returned: returnData } : { reverted: returnData },
  );
}

/** Separate calls in one batch, halved while the response is too large. */
async function callSeparately(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractResult[]> {
  if (calls.length === 0) return [];
  try {
    const asked = calls.map((call) => ethCall(basis, call, callGas));
    const answers = await requestAt(client, basis, asked, responseLimit(calls.length));
    return answers.map(contractResult);
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
    if (calls.length === 1) return [null];
    const middle = Math.ceil(calls.length / 2);
    return [
      ...(await callSeparately(client, basis, calls.slice(0, middle))),
      ...(await callSeparately(client, basis, calls.slice(middle))),
    ];
  }
}

function ethCall(basis: ReadBasis, { to, data }: ContractCall, gas?: bigint): RpcCall {
  const call = gas === undefined ? { to, data } : { to, data, gas: numberToHex(gas) };
  return { method: "eth_call", params: [call, numberToHex(basis.number)] };
}

function contractResult(answer: RpcResponse): ContractResult {
  return "error" in answer && isContractFault(answer.error) ? null : resultOf(answer);
}

export function resultOf(answer: RpcResponse | undefined): Hex | undefined {
  if (answer === undefined || "error" in answer) return undefined;
  return isHex(answer.result) ? answer.result : undefined;
}

/** A batch whose last call proves that the basis block is still canonical. */
export async function requestAt(
  client: RpcTarget,
  basis: BlockHeader,
  calls: readonly RpcCall[],
  maxBytes?: number,
): Promise<RpcResponse[]> {
  const height = { method: "eth_getBlockByNumber", params: [numberToHex(basis.number), false] };
  const answers = await requestBatch(client, [...calls, height], maxBytes);
  const block = parseBlockHeader(client.chainId, answers.pop(), basis.number);
  if (block?.hash !== basis.hash) {
    throw new BasisReorged(`Chain ${client.chainId} reorged block ${basis.number} during a read`);
  }
  return answers;
}
