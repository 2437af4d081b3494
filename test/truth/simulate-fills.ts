import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseEther,
} from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { type Call, type FillAttempt, fillCalls, filler, triedTokens } from "./fill-calls.ts";
import { nftOf, type StoredOrder } from "./stored-order.ts";

/** What the exchange would do with an order now. Units. */
export type FillResult = {
  fills: boolean;
  /** Revert data of a failed fill. */
  revertData: Hex;
  /** Units filled so far, by `getOrderStatus`. */
  filled: bigint;
  /** Units of the token that the maker owns. */
  held: bigint;
};

/** Simulates filling each order alone on the state after a block, the newest or a given one, at a time (unix seconds). */
export async function simulateFills(
  rpcUrl: string,
  attempts: readonly FillAttempt[],
  atSeconds: number,
  block?: bigint,
): Promise<FillResult[]> {
  const tag = block === undefined ? "latest" : numberToHex(block);
  const owners = await readOwners(rpcUrl, attempts, tag);
  const results: FillResult[] = [];
  for (let start = 0; start < attempts.length; start += 50) {
    const part = attempts.slice(start, start + 50);
    const requests = part.map((attempt, index) =>
      simulation(callsOf(attempt, owners[start + index] ?? []), atSeconds, tag),
    );
    const answers = await sendBatch(rpcUrl, requests);
    results.push(
      ...answers.map((answer, index) => parseResult(part[index] as FillAttempt, answer)),
    );
  }
  return results;
}

function callsOf(attempt: FillAttempt, owners: readonly (Address | null)[]): Call[] {
  const { order } = attempt;
  const { contract, tokenId, standard } = nftOf(order);
  const status = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "getOrderStatus",
    args: [order.orderHash],
  });
  const maker = order.components.offerer;
  const holding =
    standard === "erc1155"
      ? encodeFunctionData({ abi: erc1155Abi, functionName: "balanceOf", args: [maker, tokenId] })
      : encodeFunctionData({ abi: erc721Abi, functionName: "ownerOf", args: [tokenId] });
  return [
    { to: seaportAddresses["1.6"], data: status },
    { to: contract, data: holding },
    ...fillCalls(attempt, owners),
  ];
}

/** Owners of the ERC-721 tokens by which bids are tried; null: no owner. */
async function readOwners(
  rpcUrl: string,
  attempts: readonly FillAttempt[],
  tag: string,
): Promise<readonly (readonly (Address | null)[])[]> {
  const tried = attempts.map((attempt) => {
    const { side } = attempt.order;
    const { standard, contract } = nftOf(attempt.order);
    const ids = side === "bids" && standard === "erc721" ? triedTokens(attempt) : [];
    return ids.map((id): Request => {
      const data = encodeFunctionData({ abi: erc721Abi, functionName: "ownerOf", args: [id] });
      return { method: "eth_call", params: [{ to: contract, data }, tag] };
    });
  });
  const answers = await sendBatch(rpcUrl, tried.flat());
  const owners = answers.map(({ result }) =>
    typeof result === "string" && result.length === 66
      ? (`0x${result.slice(26)}` as Address)
      : null,
  );
  return tried.map(({ length }) => owners.splice(0, length));
}

type Request = { method: string; params: readonly unknown[] };

function simulation(calls: readonly Call[], atSeconds: number, tag: string): Request {
  const block = {
    blockOverrides: { time: numberToHex(atSeconds) },
    stateOverrides: { [filler]: { balance: numberToHex(parseEther("1000000000")) } },
    calls,
  };
  return { method: "eth_simulateV1", params: [{ blockStateCalls: [block] }, tag] };
}

const Answers = z.array(
  z.object({ id: z.number(), result: z.unknown().optional(), error: z.unknown().optional() }),
);
type Answer = z.output<typeof Answers>[number];

async function sendBatch(rpcUrl: string, requests: readonly Request[]): Promise<Answer[]> {
  if (requests.length === 0) return [];
  const body = requests.map((one, id) => ({ jsonrpc: "2.0", id, ...one }));
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return Answers.parse(await response.json()).sort((a, b) => a.id - b.id);
}

const hex = z.string().transform((text) => text as Hex);
const log = z.object({ data: z.string() });
const call = z.object({ status: hex, returnData: hex, logs: z.array(log) });
const Simulated = z.array(z.object({ calls: z.array(call) })).length(1);

function parseResult({ order }: FillAttempt, { result, error }: Answer): FillResult {
  const parsed = Simulated.safeParse(result);
  const calls = parsed.data?.[0]?.calls;
  if (calls === undefined) throw new Error(`eth_simulateV1 failed: ${JSON.stringify(error)}`);
  const [status, holding, ...steps] = calls;
  if (status === undefined || holding === undefined) throw new Error("a call is missing");
  const [, , numerator, denominator] = decodeFunctionResult({
    abi: seaportFunctions,
    functionName: "getOrderStatus",
    data: status.returnData,
  });
  const { quantity, standard } = nftOf(order);
  const failed = steps.find((step) => step.status !== "0x1");
  // The data of `OrderFulfilled` start with the order hash. With the maker's current counter the same parameters are
  // another order, which may be validated.
  const isFilled = steps.some(({ logs }) =>
    logs.some(({ data }) => data.startsWith(order.orderHash)),
  );
  return {
    fills: failed === undefined && isFilled,
    revertData: failed?.returnData ?? "0x",
    filled: denominator === 0n ? 0n : (quantity * numerator) / denominator,
    held: heldUnits(order, standard, holding),
  };
}

function heldUnits(
  { components }: StoredOrder,
  standard: string,
  { status, returnData }: { status: Hex; returnData: Hex },
): bigint {
  if (status !== "0x1") return 0n;
  if (standard === "erc1155") return BigInt(returnData);
  return returnData.slice(26) === components.offerer.slice(2) ? 1n : 0n;
}
