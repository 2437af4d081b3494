import {
  type Address,
  compactSignatureToSignature,
  type Hex,
  isAddress,
  isAddressEqual,
  isHex,
  parseCompactSignature,
  recoverAddress,
  serializeSignature,
  zeroAddress,
} from "viem";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import type { DevnetClient } from "#devnet/client.ts";
import { signedZone } from "#devnet/contracts/addresses.ts";
import {
  itemType,
  type OrderComponents,
  type SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import type { StoredListing } from "../listing-store.ts";
import type { StandInState } from "../stand-in.ts";
import {
  type CollectionFee,
  partnerFeeBps,
  partnerFeeRecipients,
  type StandInCollection,
} from "../stand-in-collections.ts";

const address = z
  .custom<Address>((text) => isAddress(`${text}`, { strict: false }), "is not an address")
  .transform((text) => text.toLowerCase() as Address);
const hex = z.custom<Hex>((text) => isHex(text), "is not hex");
const integer = z
  .union([z.string().regex(/^(\d+|0x[0-9a-fA-F]+)$/), z.int().min(0)])
  .transform((text) => BigInt(text));

const Item = z.object({
  itemType: z.int().min(0).max(5),
  token: address,
  identifierOrCriteria: integer,
  startAmount: integer,
  endAmount: integer,
});

const Request = z.object({
  parameters: z.object({
    offerer: address,
    zone: address.default(zeroAddress),
    offer: z.array(Item),
    consideration: z.array(Item.extend({ recipient: address })),
    orderType: z.int().min(0).max(4),
    startTime: integer,
    endTime: integer,
    zoneHash: hex,
    salt: integer,
    conduitKey: hex,
    totalOriginalConsiderationItems: z.int(),
    counter: integer,
  }),
  protocol_address: address,
  signature: hex,
});

type Submission = { chainId: ChainId; body: unknown; now: number };

/** Takes a listing in as the partner does; otherwise what is wrong with it, all of it. */
export async function takeListing(
  { book, collections, clients }: StandInState,
  { chainId, body, now }: Submission,
): Promise<StoredListing | string[]> {
  const request = Request.safeParse(body);
  if (!request.success)
    return request.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  const { parameters, protocol_address: protocol, signature } = request.data;
  const { totalOriginalConsiderationItems: legs, ...components } = parameters;
  const collection = collections.find(
    ({ chainId: known, contract }) =>
      known === chainId && contract.toLowerCase() === components.offer[0]?.token,
  );
  const errors = [
    ...validateForm(components, { protocol, legs }),
    ...validateTimes(components, now),
    ...validateFees(components, chainId, collection),
  ];
  if (errors.length > 0) return errors;
  const order = { components, signature };
  const complaints = await validateMaker(order, { chainId, client: clients.get(chainId) });
  if (complaints.length > 0) return complaints;
  const hash = orderHash(components);
  if (book.find(chainId, hash) !== undefined) return [`Duplicate order: ${hash} is listed already`];
  return book.add({ chainId, order, hash, listedAt: now });
}

const unless = (holds: boolean, error: string): string[] => (holds ? [] : [error]);

function validateForm(
  { offer, orderType, zone, conduitKey, consideration }: OrderComponents,
  { protocol, legs }: { protocol: Address; legs: number },
): string[] {
  const [item] = offer;
  const isToken = item?.itemType === itemType.erc721 || item?.itemType === itemType.erc1155;
  return [
    ...unless(protocol === seaportAddresses["1.6"], "protocol_address is not a supported exchange"),
    ...unless(offer.length === 1 && isToken, "An order has to offer one token"),
    ...unless(
      zone === signedZone && (orderType === 2 || orderType === 3),
      `The order has to be restricted to the zone ${signedZone}`,
    ),
    ...unless(conduitKey.toLowerCase() === commonConduit.key, "The conduit key is not supported"),
    ...unless(
      legs === consideration.length,
      "totalOriginalConsiderationItems does not match the consideration",
    ),
    ...unless(
      [...offer, ...consideration].every(({ startAmount, endAmount }) => startAmount === endAmount),
      "The price has to be fixed",
    ),
  ];
}

const longestSeconds = 184 * 24 * 60 * 60;

function validateTimes({ startTime, endTime }: OrderComponents, now: number): string[] {
  return [
    ...unless(endTime > BigInt(now), "The order has expired"),
    ...unless(endTime - startTime <= BigInt(longestSeconds), "The order lasts too long"),
  ];
}

function validateFees(
  { consideration, offerer }: OrderComponents,
  chainId: ChainId,
  collection: StandInCollection | undefined,
): string[] {
  if (collection === undefined) return ["The contract belongs to no known collection"];
  const currency = consideration[0]?.token ?? zeroAddress;
  const isPaid = currency === zeroAddress || currency === wrappedNative[chainId];
  const totalWei = consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  const own = { recipient: partnerFeeRecipients.opensea, bps: partnerFeeBps.opensea };
  const fees = [{ ...own, isRequired: true }, ...collection.creatorFees];
  return [
    ...unless(
      isPaid && consideration.every(({ token }) => token === currency),
      "The currency is not supported",
    ),
    ...unless(consideration[0]?.recipient === offerer, "The first item has to pay the offerer"),
    ...fees.flatMap((fee) => validateFee(fee, consideration, totalWei)),
    ...unless(
      consideration.slice(1).every((leg) => fees.some((fee) => fee.recipient === leg.recipient)),
      "A fee goes to somebody whom the collection does not name",
    ),
  ];
}

/** The leg may round down: a wei less a unit is let through. */
function validateFee(
  { recipient, bps, isRequired }: CollectionFee,
  consideration: OrderComponents["consideration"],
  totalWei: bigint,
): string[] {
  const leg = consideration.slice(1).find((paid) => isAddressEqual(paid.recipient, recipient));
  if (leg === undefined)
    return unless(!isRequired, `The fee of ${bps} basis points to ${recipient} is missing`);
  const exactWei = (totalWei * BigInt(bps)) / 10_000n;
  const differenceWei = exactWei - leg.startAmount;
  return unless(
    differenceWei <= 10_000n && differenceWei >= -10_000n,
    `The fee to ${recipient} is ${leg.startAmount}, not ${exactWei} (${bps} basis points)`,
  );
}

/** Whether the maker signed, owns and approved what the order offers; without a chain only the signature is checked. */
async function validateMaker(
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
      address: seaportAddresses["1.6"],
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
