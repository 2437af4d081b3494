import {
  type Address,
  concat,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddress,
  keccak256,
  namehash,
  parseAbi,
  size,
  toHex,
  zeroAddress,
} from "viem";
import { labelhash, packetToBytes, toCoinType } from "viem/ens";
import { ensRegistry } from "#abis/deployments.ts";
import { apechain } from "#chains/apechain.ts";
import { parseEnsName } from "#projections/domain/ens-name.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { ChainClient } from "./client.ts";
import {
  type ChainCall,
  type ChainCallOutcome,
  fetchReadBasis,
  type ReadBasis,
} from "./contract-calls.ts";
import { executeCalls } from "./execute-calls.ts";
import { RpcFailure } from "./rpc.ts";

/** ENSIP-9. Overloads `addr`; separate, so that each is unambiguous. */
const multicoinAbi = parseAbi([
  "function addr(bytes32 node, uint256 coinType) view returns (bytes)",
]);

/** Selector of EIP-3668's revert. */
const offchainLookup = "0x556f1830";

type EnsRecord = {
  /** Coin type 60. */
  address: Address | null;
  /** ENSIP-11 address of ApeChain. */
  apechainAddress: Address | null;
  /** The primary name of `address`, when it resolves to `address`. */
  reverseName: string | null;
};

/**
 * Resolves a normalised name through the registry on Ethereum, by its own resolver or the nearest wildcard resolver of
 * a parent (ENSIP-10). Off-chain gateways (EIP-3668) are not followed. Null: no resolver or no address. Throws
 * `RpcFailure`.
 */
export async function resolveEnsName(
  client: ChainClient,
  name: string,
): Promise<EnsRecord | "offchain" | null> {
  const basis = await fetchReadBasis(client);
  const found = await findAddresses(client, basis, name);
  if (found === null || found === "offchain") return found;
  const reverseName =
    found.address === null ? null : await findPrimaryName(client, basis, found.address);
  return { ...found, reverseName };
}

type Addresses = Pick<EnsRecord, "address" | "apechainAddress">;

async function findAddresses(
  client: ChainClient,
  basis: ReadBasis,
  name: string,
): Promise<Addresses | "offchain" | null> {
  const resolver = await findResolver(client, basis, name);
  if (resolver === null) return null;
  const node = namehash(name);
  const calls = [
    encodeFunctionData({ abi: ensAbi, functionName: "addr", args: [node] }),
    encodeFunctionData({
      abi: multicoinAbi,
      functionName: "addr",
      args: [node, toCoinType(apechain.id)],
    }),
  ];
  const [native, onApechain] = await executeCalls(
    client,
    basis,
    calls.map((data) => ({ to: resolver.address, data: resolver.wrap(name, data) })),
  );
  if (isOffchain(native)) return "offchain";
  const address = readAddress(resolver.unwrap(native));
  const apechainAddress = readCoinAddress(resolver.unwrap(onApechain));
  return address === null && apechainAddress === null ? null : { address, apechainAddress };
}

/** The primary name, only if it resolves back to the address. */
async function findPrimaryName(
  client: ChainClient,
  basis: ReadBasis,
  address: Address,
): Promise<string | null> {
  const reverse = `${address.slice(2)}.addr.reverse`;
  const node = namehash(reverse);
  const [resolverOutcome] = await executeCalls(client, basis, [resolverCall(node)]);
  const resolver = readAddress(returnedOf(resolverOutcome));
  if (resolver === null) return null;
  const data = encodeFunctionData({ abi: ensAbi, functionName: "name", args: [node] });
  const [outcome] = await executeCalls(client, basis, [{ to: resolver, data }]);
  // Anybody's contract: that it costs too much to ask is no reason to refuse a name that leads here.
  const returned = outcome === undefined ? null : returnedOf(outcome);
  const text =
    returned &&
    decodeOrNull(() => decodeFunctionResult({ abi: ensAbi, functionName: "name", data: returned }));
  const parsed = parseEnsName(text ?? "");
  // A name that is not normalised is not accepted as a primary name.
  if (isRejection(parsed) || parsed.name !== text) return null;
  const forward = await findAddresses(client, basis, parsed.name);
  const resolvesBack = forward !== null && forward !== "offchain" && forward.address === address;
  return resolvesBack ? parsed.name : null;
}

function isOffchain(outcome: ChainCallOutcome): boolean {
  return (
    outcome !== undefined && "reverted" in outcome && outcome.reverted.startsWith(offchainLookup)
  );
}

function readCoinAddress(data: Hex | null): Address | null {
  if (data === null) return null;
  const bytes = decodeOrNull(() => decodeAbiParameters([{ type: "bytes" }], data)[0]);
  if (bytes === null || size(bytes) !== 20 || BigInt(bytes) === 0n) return null;
  return getAddress(bytes).toLowerCase() as Address;
}

/** Functions of the ENS registry and of resolvers. */
const ensAbi = parseAbi([
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
  unwrap(outcome: ChainCallOutcome): Hex | null;
};

/** The nearest resolver of a name and its parents; a parent's only if it is a wildcard resolver. */
async function findResolver(
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

const resolverCall = (node: Hex): ChainCall => ({
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
function returnedOf(outcome: ChainCallOutcome): Hex | null {
  if (outcome === undefined) throw new RpcFailure("No RPC result for an ENS call");
  return "returned" in outcome ? outcome.returned : null;
}

/** An address that is not zero. */
function readAddress(data: Hex | null): Address | null {
  if (data === null || size(data) !== 32) return null;
  const address = `0x${data.slice(26)}` as const;
  return isAddress(address, { strict: false }) && address !== zeroAddress ? address : null;
}

/** A resolver may return anything. */
function decodeOrNull<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
