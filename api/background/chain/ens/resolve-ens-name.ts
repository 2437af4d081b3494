import { type Address, decodeAbiParameters, decodeFunctionResult, encodeFunctionData, getAddress, type Hex, namehash, parseAbi, size } from "viem";
import { toCoinType } from "viem/ens";
import { apechain } from "#chains/apechain.ts";
import { parseEnsName } from "#projections/domain/ens-name.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { CallOutcome } from "../calls/chain-call.ts";
import { executeCalls } from "../calls/execute-calls.ts";
import type { ChainClient } from "../clients.ts";
import { fetchReadBasis, type ReadBasis } from "../contract-calls.ts";
import { decodeOrNull, ensAbi, findResolver, readAddress, resolverCall, returnedOf } from "./ens-resolver.ts";

/** ENSIP-9. Overloads `addr`; separate, so that each is unambiguous. */
const multicoinAbi = parseAbi([
  "function addr(bytes32 node, uint256 coinType) view returns (bytes)",
]);

/** Selector of EIP-3668's revert. */
const offchainLookup = "0x556f1830";

export type EnsRecord = {
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

function isOffchain(outcome: CallOutcome): boolean {
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
