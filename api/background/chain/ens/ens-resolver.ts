import { type Address, concat, decodeFunctionResult, encodeFunctionData, type Hex, isAddress, keccak256, namehash, parseAbi, size, toHex, zeroAddress } from "viem";
import { labelhash, packetToBytes } from "viem/ens";
import { ensRegistry } from "#abis/deployments.ts";
import type { CallOutcome, ChainCall } from "../calls/chain-call.ts";
import { executeCalls } from "../calls/execute-calls.ts";
import type { ChainClient } from "../clients.ts";
import type { ReadBasis } from "../contract-calls.ts";
import { RpcFailure } from "../rpc.ts";

/** Functions of the ENS registry and of resolvers. */
export const ensAbi = parseAbi([
  "function resolver(bytes32 node) view returns (address)",
  "function supportsInterface(bytes4 id) view returns (bool)",
  "function resolve(bytes name, bytes data) view returns (bytes)",
  "function addr(bytes32 node) view returns (address)",
  "function name(bytes32 node) view returns (string)",
]);
/** Selector of ENSIP-10 `resolve`. */
const extendedResolver = "0x9061b923";

type Resolver = {
  address: Address;
  wrap(name: string, data: Hex): Hex;
  unwrap(outcome: CallOutcome): Hex | null;
};

/** The nearest resolver of a name and its parents; a parent's only if it is a wildcard resolver. */
export async function findResolver(
  client: ChainClient,
  basis: ReadBasis,
  name: string,
): Promise<Resolver | null> {
  const outcomes = await executeCalls(client, basis, nodesOf(name).map(resolverCall));
  const resolvers = outcomes.map((outcome) => readAddress(returnedOf(outcome)));
  const nearest = resolvers.findIndex((resolver) => resolver !== null);
  const address = resolvers[nearest];
  if (address === undefined || address === null) return null;
  if (await isExtended(client, basis, address)) return extendedResolverAt(address);
  return nearest === 0 ? directResolver(address) : null;
}

/** The hashes (EIP-137) of a name and its parents, each made from the next. */
function nodesOf(name: string): Hex[] {
  const nodes: Hex[] = [];
  let node = namehash("");
  for (const label of name.split(".").toReversed()) {
    node = keccak256(concat([node, labelhash(label)]));
    nodes.unshift(node);
  }
  return nodes;
}

export const resolverCall = (node: Hex): ChainCall => ({
  to: ensRegistry,
  data: encodeFunctionData({ abi: ensAbi, functionName: "resolver", args: [node] }),
});

async function isExtended(
  client: ChainClient,
  basis: ReadBasis,
  resolver: Address,
): Promise<boolean> {
  const data = encodeFunctionData({
    abi: ensAbi,
    functionName: "supportsInterface",
    args: [extendedResolver],
  });
  const [outcome] = await executeCalls(client, basis, [{ to: resolver, data }]);
  const returned = returnedOf(outcome);
  return returned !== null && size(returned) === 32 && BigInt(returned) === 1n;
}

const directResolver = (address: Address): Resolver => ({
  address,
  wrap: (_, data) => data,
  unwrap: returnedOf,
});

const extendedResolverAt = (address: Address): Resolver => ({
  address,
  wrap: (name, data) =>
    encodeFunctionData({
      abi: ensAbi,
      functionName: "resolve",
      args: [toHex(packetToBytes(name)), data],
    }),
  unwrap(outcome) {
    const returned = returnedOf(outcome);
    return returned === null
      ? null
      : decodeOrNull(() =>
          decodeFunctionResult({ abi: ensAbi, functionName: "resolve", data: returned }),
        );
  },
});

/** What a call returned; null: it reverted. Throws `RpcFailure` where the node gave no result, which says nothing of the name. */
export function returnedOf(outcome: CallOutcome): Hex | null {
  if (outcome === undefined) throw new RpcFailure("No RPC result for an ENS call");
  return "returned" in outcome ? outcome.returned : null;
}

/** An address that is not zero. */
export function readAddress(data: Hex | null): Address | null {
  if (data === null || size(data) !== 32) return null;
  const address = `0x${data.slice(26)}` as const;
  return isAddress(address, { strict: false }) && address !== zeroAddress ? address : null;
}

/** A resolver may return anything. */
export function decodeOrNull<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
