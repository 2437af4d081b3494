import {
  type Address,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  isAddress,
  namehash,
  parseAbi,
  size,
  toHex,
  zeroAddress,
} from "viem";
import { packetToBytes, toCoinType } from "viem/ens";
import { ensRegistry } from "../../../abis/deployments.ts";
import { parseEnsName } from "../../../projections/domain/ens-name.ts";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { type CallOutcome, type ChainCall, executeCalls } from "./call-batch.ts";
import type { ChainClient } from "./clients.ts";
import { fetchReadBasis, type ReadBasis } from "./contract-calls.ts";
import { RpcFailure } from "./rpc-batch.ts";

const abi = parseAbi([
  "function resolver(bytes32 node) view returns (address)",
  "function supportsInterface(bytes4 id) view returns (bool)",
  "function resolve(bytes name, bytes data) view returns (bytes)",
  "function addr(bytes32 node) view returns (address)",
  "function name(bytes32 node) view returns (string)",
]);
/** ENSIP-9. Overloads `addr`; separate, so that each is unambiguous. */
const multicoinAbi = parseAbi([
  "function addr(bytes32 node, uint256 coinType) view returns (bytes)",
]);

/** Selectors of ENSIP-10 `resolve` and of EIP-3668's revert. */
const extendedResolver = "0x9061b923";
const offchainLookup = "0x556f1830";

export type EnsRecord = {
  /** Coin type 60. */
  address: Address | null;
  /** ENSIP-11 address of chain 33139. */
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
    encodeFunctionData({ abi, functionName: "addr", args: [node] }),
    encodeFunctionData({
      abi: multicoinAbi,
      functionName: "addr",
      args: [node, toCoinType(33139)],
    }),
  ];
  const [native, apechain] = await executeCalls(
    client,
    basis,
    calls.map((data) => ({ to: resolver.address, data: resolver.wrap(name, data) })),
  );
  if (native === undefined) throw new RpcFailure(`No RPC result for the resolver of ${name}`);
  if (isOffchain(native)) return "offchain";
  const address = readAddress(resolver.unwrap(native));
  const apechainAddress = readCoinAddress(resolver.unwrap(apechain));
  return address === null && apechainAddress === null ? null : { address, apechainAddress };
}

type Resolver = {
  address: Address;
  wrap(name: string, data: Hex): Hex;
  unwrap(outcome: CallOutcome): Hex | null;
};

/** The nearest resolver of a name and its parents; a parent's only if it is a wildcard resolver. */
async function findResolver(
  client: ChainClient,
  basis: ReadBasis,
  name: string,
): Promise<Resolver | null> {
  const labels = name.split(".");
  const names = labels.map((_, index) => labels.slice(index).join("."));
  const outcomes = await executeCalls(client, basis, names.map(resolverCall));
  const resolvers = outcomes.map((outcome) => {
    if (outcome === undefined) throw new RpcFailure("No RPC result for the ENS registry");
    return readAddress(returnedOf(outcome));
  });
  const nearest = resolvers.findIndex((resolver) => resolver !== null);
  const address = resolvers[nearest];
  if (address === undefined || address === null) return null;
  if (await isExtended(client, basis, address)) return extendedResolverAt(address);
  return nearest === 0 ? directResolver(address) : null;
}

const resolverCall = (name: string): ChainCall => ({
  to: ensRegistry,
  data: encodeFunctionData({ abi, functionName: "resolver", args: [namehash(name)] }),
});

async function isExtended(
  client: ChainClient,
  basis: ReadBasis,
  resolver: Address,
): Promise<boolean> {
  const data = encodeFunctionData({
    abi,
    functionName: "supportsInterface",
    args: [extendedResolver],
  });
  const [outcome] = await executeCalls(client, basis, [{ to: resolver, data }]);
  if (outcome === undefined) throw new RpcFailure("No RPC result for the resolver");
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
      abi,
      functionName: "resolve",
      args: [toHex(packetToBytes(name)), data],
    }),
  unwrap(outcome) {
    const returned = returnedOf(outcome);
    return returned === null
      ? null
      : decodeOrNull(() => decodeFunctionResult({ abi, functionName: "resolve", data: returned }));
  },
});

/** The primary name, only if it resolves back to the address. */
async function findPrimaryName(
  client: ChainClient,
  basis: ReadBasis,
  address: Address,
): Promise<string | null> {
  const reverse = `${address.slice(2)}.addr.reverse`;
  const [resolverOutcome] = await executeCalls(client, basis, [resolverCall(reverse)]);
  const resolver = readAddress(returnedOf(resolverOutcome));
  if (resolver === null) return null;
  const data = encodeFunctionData({ abi, functionName: "name", args: [namehash(reverse)] });
  const [outcome] = await executeCalls(client, basis, [{ to: resolver, data }]);
  const returned = returnedOf(outcome);
  const text =
    returned &&
    decodeOrNull(() => decodeFunctionResult({ abi, functionName: "name", data: returned }));
  const parsed = parseEnsName(text ?? "");
  // A name that is not normalised is not accepted as a primary name.
  if (isRejection(parsed) || parsed.name !== text) return null;
  const forward = await findAddresses(client, basis, parsed.name);
  const resolvesBack = forward !== null && forward !== "offchain" && forward.address === address;
  return resolvesBack ? parsed.name : null;
}

function returnedOf(outcome: CallOutcome): Hex | null {
  return outcome !== undefined && "returned" in outcome ? outcome.returned : null;
}

function isOffchain(outcome: CallOutcome): boolean {
  return (
    outcome !== undefined && "reverted" in outcome && outcome.reverted.startsWith(offchainLookup)
  );
}

function readAddress(data: Hex | null): Address | null {
  if (data === null || size(data) !== 32) return null;
  const address = `0x${data.slice(26)}` as const;
  return isAddress(address, { strict: false }) && address !== zeroAddress ? address : null;
}

function readCoinAddress(data: Hex | null): Address | null {
  if (data === null) return null;
  const bytes = decodeOrNull(() => decodeAbiParameters([{ type: "bytes" }], data)[0]);
  if (bytes === null || size(bytes) !== 20 || BigInt(bytes) === 0n) return null;
  return getAddress(bytes).toLowerCase() as Address;
}

/** A resolver may return anything. */
function decodeOrNull<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
