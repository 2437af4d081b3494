import { type Address, type Hex, numberToHex } from "viem";
import type { ChainClient } from "./clients.ts";
import {
  type ContractCall,
  isContractFault,
  joinCalls,
  type ReadBasis,
  requestAt,
  resultOf,
  splitJoinedResult,
} from "./contract-calls.ts";
import { ResponseTooLarge, type RpcCall, type RpcResponse } from "./rpc-batch.ts";

/**
 * A static call, or the code of an address. A call with a sender is never joined, as Multicall3 would be the sender; nor
 * is one that usually reverts, as it would be repeated.
 */
export type ChainCall =
  | (ContractCall & { from?: Address; gas?: bigint; usuallyReverts?: true })
  | { readonly codeOf: Address };

/** `reverted`: the revert data, `0x` if unknown. Undefined: no result from the node. */
export type CallOutcome = { returned: Hex } | { reverted: Hex } | undefined;

/** Maximum calls in one Multicall3 call, and its gas. All are to one contract, so it can only starve itself. */
const maxJoinedCalls = 100;
const joinedGas = 20_000_000n;
const callGas = 2_000_000n;

/** Together with the block that proves the basis, the maximum of one HTTP request. */
const callsPerRequest = 99;

export function callKey(call: ChainCall): string {
  return "codeOf" in call ? call.codeOf : `${call.from ?? ""}>${call.to}:${call.data}`;
}

type CallGroup = { request: RpcCall; indexes: number[]; isJoined: boolean };

/**
 * Makes calls at one block in one batch: calls to the same contract joined through Multicall3 if deployed, others
 * separately. Joined calls that fail are repeated separately in a second batch.
 */
export async function executeCalls(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ChainCall[],
): Promise<CallOutcome[]> {
  const outcomes: CallOutcome[] = calls.map(() => undefined);
  const groups = groupCalls(calls, basis).map((indexes) => toCallGroup(calls, indexes, basis));
  const failed: number[] = [];
  (await requestAll(client, basis, groups)).forEach((answer, place) => {
    const { indexes = [], isJoined = false } = groups[place] ?? {};
    const returned = isJoined ? splitOrEmpty(answer) : undefined;
    indexes.forEach((index, position) => {
      const bytes = returned?.[position];
      if (isJoined && bytes === undefined) failed.push(index);
      else outcomes[index] = bytes === undefined ? outcomeOf(answer) : { returned: bytes };
    });
  });
  const separate = failed.map((index) => toCallGroup(calls, [index], basis));
  (await requestAll(client, basis, separate)).forEach((answer, place) => {
    for (const index of separate[place]?.indexes ?? []) outcomes[index] = outcomeOf(answer);
  });
  return outcomes;
}

/** Indexes of the calls that are joined: those to the same contract, unless they need a sender. */
function groupCalls(calls: readonly ChainCall[], { hasMulticall }: ReadBasis): number[][] {
  const groups: number[][] = [];
  const openGroups = new Map<Address, number[]>();
  calls.forEach((call, index) => {
    const target = hasMulticall && isJoinable(call) ? call.to : undefined;
    const open = target === undefined ? undefined : openGroups.get(target);
    if (open !== undefined && open.length < maxJoinedCalls) {
      open.push(index);
      return;
    }
    const group = [index];
    groups.push(group);
    if (target !== undefined) openGroups.set(target, group);
  });
  return groups;
}

const isJoinable = (call: ChainCall): call is ContractCall =>
  "to" in call && call.from === undefined && call.usuallyReverts !== true;

function toCallGroup(calls: readonly ChainCall[], indexes: number[], basis: ReadBasis): CallGroup {
  const members = indexes.flatMap((index) => calls[index] ?? []);
  const [first] = members;
  const height = numberToHex(basis.number);
  if (first !== undefined && "codeOf" in first) {
    const request = { method: "eth_getCode", params: [first.codeOf, height] };
    return { request, indexes, isJoined: false };
  }
  const contractCalls = members.filter((call) => "to" in call);
  const isJoined = contractCalls.length > 1;
  const {
    usuallyReverts: _,
    gas = callGas,
    ...call
  } = isJoined ? { ...joinCalls(contractCalls), gas: joinedGas } : { ...contractCalls[0] };
  const params = [{ ...call, gas: numberToHex(gas) }, height];
  return { request: { method: "eth_call", params }, indexes, isJoined };
}

async function requestAll(
  client: ChainClient,
  basis: ReadBasis,
  units: readonly CallGroup[],
): Promise<RpcResponse[]> {
  const answers: RpcResponse[] = [];
  for (let start = 0; start < units.length; start += callsPerRequest) {
    const requests = units.slice(start, start + callsPerRequest).map(({ request }) => request);
    answers.push(...(await requestWithHalving(client, basis, requests)));
  }
  return answers;
}

/** Halves a batch whose response is too large; a single call that is too large counts as reverted. */
async function requestWithHalving(
  client: ChainClient,
  basis: ReadBasis,
  requests: readonly RpcCall[],
): Promise<RpcResponse[]> {
  try {
    return await requestAt(client, basis, requests);
  } catch (error) {
    if (!(error instanceof ResponseTooLarge)) throw error;
    if (requests.length === 1) return [{ error: { code: 3, message: error.message } }];
    const middle = Math.ceil(requests.length / 2);
    return [
      ...(await requestWithHalving(client, basis, requests.slice(0, middle))),
      ...(await requestWithHalving(client, basis, requests.slice(middle))),
    ];
  }
}

function splitOrEmpty(answer: RpcResponse): (Hex | undefined)[] {
  try {
    return splitJoinedResult(resultOf(answer));
  } catch {
    return [];
  }
}

function outcomeOf(answer: RpcResponse): CallOutcome {
  if ("error" in answer) {
    return isContractFault(answer.error) ? { reverted: revertData(answer.error.data) } : undefined;
  }
  const returned = resultOf(answer);
  return returned === undefined ? undefined : { returned };
}

/** Some nodes put text before the bytes. */
function revertData(data: unknown): Hex {
  const [bytes] = typeof data === "string" ? (/0x(?:[0-9a-f]{2})*/i.exec(data) ?? []) : [];
  return (bytes?.toLowerCase() ?? "0x") as Hex;
}
