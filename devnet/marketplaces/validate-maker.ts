import { compactSignatureToSignature, isAddressEqual, parseCompactSignature, recoverAddress, serializeSignature } from "viem";
import { commonConduit, seaport } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import type { ChainId } from "#chains/index.ts";
import { itemType, type SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { exchangeDomain, orderHash, signingDigest } from "#projections/domain/seaport/order-hash.ts";
import type { DevnetClient } from "../client.ts";

/** Whether the maker signed, owns and approved what the order offers; without a chain only the signature is checked. */
export async function validateMaker(
  order: SignedOrder,
  { chainId, client }: { chainId: ChainId; client: DevnetClient | undefined },
): Promise<string[]> {
  if (!(await isSignedBy(order, chainId))) return ["The signature is not the offerer's"];
  return client === undefined ? [] : validateHoldings(order, client);
}

/** Of accounts with a key; a contract's signature is not taken. */
async function isSignedBy({ components, signature }: SignedOrder, chainId: ChainId) {
  const hash = signingDigest(orderHash(components), exchangeDomain(chainId));
  try {
    const whole =
      signature.length === 130
        ? serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)))
        : signature;
    const signer = await recoverAddress({ hash, signature: whole });
    return isAddressEqual(signer, components.offerer);
  } catch {
    return false;
  }
}

async function validateHoldings(
  { components }: SignedOrder,
  client: DevnetClient,
): Promise<string[]> {
  const { offerer, offer, counter } = components;
  const [item] = offer;
  if (item === undefined) return ["An order has to offer one token"];
  const token = { address: item.token, abi: erc721Abi } as const;
  const args = [offerer, commonConduit.address] as const;
  const [units, isApproved, current] = await Promise.all([
    readUnits(client, offerer, item),
    client.readContract({ ...token, functionName: "isApprovedForAll", args }),
    client.readContract({
      address: seaport["1.6"],
      abi: seaportFunctions,
      functionName: "getCounter",
      args: [offerer],
    }),
  ]);
  return [
    ...(current === counter ? [] : [`The counter of ${offerer} is ${current}`]),
    ...(units >= item.startAmount ? [] : [`${offerer} does not hold what the order offers`]),
    ...(isApproved ? [] : [`${offerer} has not approved the conduit ${commonConduit.address}`]),
  ];
}

async function readUnits(
  client: DevnetClient,
  owner: `0x${string}`,
  item: SignedOrder["components"]["offer"][number],
): Promise<bigint> {
  const { token: address, identifierOrCriteria: tokenId } = item;
  if (item.itemType === itemType.erc1155) {
    const args = [owner, tokenId] as const;
    return client.readContract({ address, abi: erc1155Abi, functionName: "balanceOf", args });
  }
  const asked = { address, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] } as const;
  const holder = await client.readContract(asked).catch(() => undefined);
  return holder !== undefined && isAddressEqual(holder, owner) ? 1n : 0n;
}
