import {
  type Address,
  decodeFunctionResult,
  type Hex,
  isHex,
  multicall3Abi,
  numberToHex,
} from "viem";
import { multicall3 } from "../../../abis/deployments.ts";
import { type BlockHeader, blockOf } from "./block-header.ts";
import type { ChainClient } from "./clients.ts";
import { encodeCall } from "./encode-call.ts";
import {
  AnswerTooLarge,
  type RpcAnswer,
  type RpcCall,
  RpcFailure,
  requestBatch,
} from "./rpc-batch.ts";

export type ContractCall = { to: Address; data: Hex };

/** Bytes; or null: the contract refused; or undefined: the node did not say, so nothing is known. */
export type ContractAnswer = Hex | null | undefined;

/** A block whose state is read, and how. */
export type ReadBasis = BlockHeader & { hasMulticall: boolean };

/** Gas of a call that is asked alone: enough for a view through proxies, an end to a contract that loops. */
const callGas = 5_000_000n;

/** The block that was read is no longer the chain's; another can be read at. */
export class BasisMoved extends RpcFailure {
  override name = "BasisMoved";
}

/** The chain's latest block, to read at. */
export async function fetchReadBasis(client: ChainClient): Promise<ReadBasis> {
  const [block, code] = await requestBatch(client, [
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_getCode", params: [multicall3, "latest"] },
  ]);
  const latest = blockOf(client.chainId, block, "latest");
  if (latest === null) throw new RpcFailure(`Chain ${client.chainId} has no latest block`);
  return { ...latest, hasMulticall: resultOf(code) !== "0x" && resultOf(code) !== undefined };
}

/**
 * Asks untrusted contracts, together where Multicall3 stands. Whatever fails in company is asked again alone:
 * one hostile contract may have burnt the others' gas.
 */
export async function callContracts(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractAnswer[]> {
  const answers = basis.hasMulticall ? await callTogether(client, basis, calls) : [];
  const open = calls.flatMap((call, index) => (answers[index] ? [] : [{ call, index }]));
  const alone = await callAlone(
    client,
    basis,
    open.map(({ call }) => call),
  );
  const all: ContractAnswer[] = calls.map((_, index) => answers[index]);
  open.forEach(({ index }, place) => {
    all[index] = alone[place];
  });
  return all;
}

/** Whether code stands at each address; undefined: unknown. */
export async function haveCode(
  client: ChainClient,
  basis: ReadBasis,
  addresses: readonly Address[],
): Promise<(boolean | undefined)[]> {
  const answers = await requestAt(
    client,
    basis,
    addresses.map((address) => ({
      method: "eth_getCode",
      params: [address, numberToHex(basis.number)],
    })),
  );
  return answers.map((answer) => {
    const code = resultOf(answer);
    return code === undefined ? undefined : code !== "0x";
  });
}

async function callTogether(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractAnswer[]> {
  try {
    const [answer] = await requestAt(client, basis, [ethCall(basis, joinCalls(calls))]);
    return splitAnswer(resultOf(answer));
  } catch (error) {
    if (error instanceof RpcFailure && !(error instanceof AnswerTooLarge)) throw error;
    return [];
  }
}

/** One call of Multicall3 that makes all of these. */
export function joinCalls(calls: readonly ContractCall[]): ContractCall {
  const data = encodeCall({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))],
  });
  return { to: multicall3, data };
}

/** What each of joined calls returned; undefined for those that failed, none at all where they failed together. */
export function splitAnswer(returned: Hex | undefined): (Hex | undefined)[] {
  if (returned === undefined) return [];
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    data: returned,
  });
  return results.map(({ success, returnData }) => (success ? returnData : undefined));
}

/** Each call by itself in a batch; a batch whose answers are too large is halved until they fit. */
async function callAlone(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ContractCall[],
): Promise<ContractAnswer[]> {
  if (calls.length === 0) return [];
  try {
    const asked = calls.map((call) => ethCall(basis, call, callGas));
    return (await requestAt(client, basis, asked)).map(contractAnswer);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error;
    if (calls.length === 1) return [null];
    const middle = Math.ceil(calls.length / 2);
    return [
      ...(await callAlone(client, basis, calls.slice(0, middle))),
      ...(await callAlone(client, basis, calls.slice(middle))),
    ];
  }
}

function ethCall(basis: ReadBasis, { to, data }: ContractCall, gas?: bigint): RpcCall {
  const call = gas === undefined ? { to, data } : { to, data, gas: numberToHex(gas) };
  return { method: "eth_call", params: [call, numberToHex(basis.number)] };
}

/** What went wrong inside a contract, as nodes word it; any other error is the node's own. */
const contractFault =
  /revert|out ?of ?gas|opcode|stack|jump|invalid ?memory|EVM|execution (error|aborted|timeout)|returndata|too large/i;

function contractAnswer(answer: RpcAnswer): ContractAnswer {
  return "error" in answer && isContractFault(answer.error) ? null : resultOf(answer);
}

export function isContractFault({ code, message }: { code: number; message: string }): boolean {
  return code === 3 || contractFault.test(message);
}

export function resultOf(answer: RpcAnswer | undefined): Hex | undefined {
  if (answer === undefined || "error" in answer) return undefined;
  return isHex(answer.result) ? answer.result : undefined;
}

/** A batch whose answers are of the basis block: it ends with the block's own hash. */
export async function requestAt(
  client: ChainClient,
  basis: BlockHeader,
  calls: readonly RpcCall[],
): Promise<RpcAnswer[]> {
  const height = { method: "eth_getBlockByNumber", params: [numberToHex(basis.number), false] };
  const answers = await requestBatch(client, [...calls, height]);
  const block = blockOf(client.chainId, answers.pop(), basis.number);
  if (block?.hash !== basis.hash) {
    throw new BasisMoved(
      `Chain ${client.chainId} changed its block ${basis.number} while it was read`,
    );
  }
  return answers;
}
