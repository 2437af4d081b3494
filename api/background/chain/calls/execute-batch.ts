import type { Hex } from "viem";
import {
  type ReadBasis,
  requestAt,
  responseLimit,
  resultOf,
  splitJoinedResult,
} from "../contract-calls.ts";
import { isContractFault } from "../contract-fault.ts";
import { ResponseTooLarge, type RpcResponse } from "../rpc.ts";
import type { RpcTarget } from "../rpc-batch.ts";
import { type CallGroup, groupCalls, joinedWeight, toCallGroup } from "./call-group.ts";
import type { CallOutcome, ChainCall } from "./chain-call.ts";
import { LateAnswer } from "./request-in-time.ts";

/** Together with the block that proves the basis, the maximum of one HTTP request. */
const callsPerRequest = 99;
/** Code of our own for a single call whose response is too large; nodes use negative codes and 3. */
const tooLargeCode = 1_000_000;

/** Separate calls whose gas may run out before the rest of the batch is given up. */
const maxOutOfGasCalls = 12;

/**
 * `cheap`: no call used up its gas; `expensive`: some did; `late`, `out-of-gas`: an answer was late, or calls used up their gas
 * again and again; the remaining calls were not made.
 */
export type BatchCost = "cheap" | "expensive" | "late" | "out-of-gas";

type BatchResult = { outcomes: CallOutcome[]; cost: BatchCost };

/**
 * `firstCalls`: how many are made before it is known what they cost; each further request may have twice as many. A
 * response that is too large is requested again in halves, or with `throw` throws `ResponseTooLarge`.
 */
export type BatchOptions = {
  firstCalls?: number;
  tooLarge?: "halve" | "throw";
  request?: typeof requestAt;
};

/**
 * Makes calls at one block: calls to the same contract joined through Multicall3 if deployed, others separately. Joined
 * calls that fail without data are repeated separately.
 */
export async function executeBatch(
  target: RpcTarget,
  basis: ReadBasis,
  calls: readonly ChainCall[],
  { firstCalls = callsPerRequest, tooLarge = "halve", request = requestAt }: BatchOptions = {},
): Promise<BatchResult> {
  const requestGroups = requesterOf(target, basis, request);
  const send = tooLarge === "halve" ? halving(requestGroups) : requestGroups;
  const outcomes: CallOutcome[] = calls.map(() => undefined);
  const open = groupCalls(calls, basis);
  let [size, outOfGas] = [firstCalls, 0];
  try {
    while (open.length > 0 && outOfGas < maxOutOfGasCalls) {
      const groups = takeNext(open, size);
      const answers = await send(groups);
      outOfGas += answers.filter(isOutOfGas).length;
      for (const index of applyAnswers(outcomes, groups, answers)) {
        open.push(toCallGroup(calls, [index], basis));
      }
      if (outOfGas === 0) size = Math.min(size * 2, callsPerRequest);
    }
  } catch (error) {
    if (!(error instanceof LateAnswer)) throw error;
    return { outcomes, cost: "late" };
  }
  if (outOfGas >= maxOutOfGasCalls) return { outcomes, cost: "out-of-gas" };
  return { outcomes, cost: outOfGas === 0 ? "cheap" : "expensive" };
}

/** Sets the outcomes of groups; returns the indexes of the joined calls that are to be repeated separately. */
function applyAnswers(
  outcomes: CallOutcome[],
  groups: readonly CallGroup[],
  answers: readonly RpcResponse[],
): number[] {
  return groups.flatMap(({ indexes, isJoined }, place) => {
    const answer = answers[place];
    if (answer === undefined) return [];
    const joined = isJoined ? splitOrEmpty(answer) : indexes.map(() => outcomeOf(answer));
    indexes.forEach((index, position) => {
      outcomes[index] = joined[position];
    });
    return isJoined ? indexes.filter((_, position) => joined[position] === undefined) : [];
  });
}

/** Removes the first groups, at least one, of at most a weight. */
function takeNext(open: CallGroup[], size: number): CallGroup[] {
  let weight = 0;
  const end = open.findIndex(({ isJoined }, index) => {
    weight += isJoined && size < callsPerRequest ? joinedWeight : 1;
    return index > 0 && weight > size;
  });
  return open.splice(0, end === -1 ? open.length : end);
}

type Send = (groups: readonly CallGroup[]) => Promise<RpcResponse[]>;

function requesterOf(target: RpcTarget, basis: ReadBasis, request: typeof requestAt): Send {
  return async (groups) => {
    const calls = groups.reduce((sum, { indexes }) => sum + indexes.length, 0);
    const requests = groups.map(({ request }) => request);
    return await request(target, basis, requests, responseLimit(calls));
  };
}

/** Halves a batch whose response is too large; a single call that is too large counts as reverted. */
function halving(send: Send): Send {
  return async function sendHalving(groups): Promise<RpcResponse[]> {
    try {
      return await send(groups);
    } catch (error) {
      if (!(error instanceof ResponseTooLarge)) throw error;
      if (groups.length === 1) return [{ error: { code: tooLargeCode, message: error.message } }];
      const middle = Math.ceil(groups.length / 2);
      return [
        ...(await sendHalving(groups.slice(0, middle))),
        ...(await sendHalving(groups.slice(middle))),
      ];
    }
  };
}

/** Undefined for calls that failed without data: they may have been starved. */
function splitOrEmpty(answer: RpcResponse): CallOutcome[] {
  try {
    return splitJoinedResult(resultOf(answer)).map((one) =>
      "reverted" in one && one.reverted === "0x" ? undefined : one,
    );
  } catch {
    return [];
  }
}

function outcomeOf(answer: RpcResponse): CallOutcome {
  if ("error" in answer) {
    if (answer.error.code === tooLargeCode) return { reverted: "0x", isTooLarge: true };
    return isContractFault(answer.error) ? { reverted: revertData(answer.error.data) } : undefined;
  }
  const returned = resultOf(answer);
  return returned === undefined ? undefined : { returned };
}

const isOutOfGas = (answer: RpcResponse) =>
  "error" in answer && /out ?of ?gas/i.test(answer.error.message);

/** Some nodes put text before the bytes. */
function revertData(data: unknown): Hex {
  const [bytes] = typeof data === "string" ? (/0x(?:[0-9a-f]{2})*/i.exec(data) ?? []) : [];
  return (bytes?.toLowerCase() ?? "0x") as Hex;
}
