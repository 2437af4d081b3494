import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  keccak256,
  type LocalAccount,
  numberToHex,
  pad,
  stringToHex,
} from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { erc721Abi } from "#abis/tokens.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import {
  draftListingComponents,
  type MakerChoices,
  type Nft,
  type Price,
} from "#projections/domain/seaport/draft-components.ts";
import {
  itemType,
  type OfferItem,
  type OrderComponents,
  orderType,
  orderTypes,
  type SignedOrder,
} from "#projections/domain/seaport/order-components.ts";
import {
  bulkOrderHash,
  bulkOrderTree,
  bulkSignature,
  exchangeDomain,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import { signedZone } from "../contracts/addresses.ts";
import { readTerms, signOrder } from "../market/signed-orders.ts";
import { accountSigner, type MarketContext } from "../market/signer.ts";
import type { ListingStore } from "./listing-store.ts";
import {
  partnerFeeBps,
  partnerFeeRecipients,
  type StandInCollection,
} from "./stand-in-collections.ts";

export type StandInName = keyof typeof partnerFeeRecipients;

/** What a maker sells at a partner marketplace, and for what. */
export type PartnerSale = {
  partner: StandInName;
  maker: LocalAccount;
  nft: Nft;
  /** Per unit. */
  priceWei: bigint;
  quantity?: bigint;
  /** The exchange fills all units at once or none. */
  isWhole?: boolean;
  /** `wrapped`: WETH or WAPE. */
  currency?: "native" | "wrapped";
  durationSeconds?: number;
  creatorFees?: StandInCollection["creatorFees"];
};

/** Makes and signs a listing as the partner's own site does, and lets the common conduit move the token. */
export async function makePartnerListing(
  market: MarketContext,
  sale: PartnerSale,
): Promise<SignedOrder> {
  const maker = accountSigner(market, sale.maker);
  await openConduit(market, sale);
  const terms = await readTerms(market, maker.address);
  return signOrder(market, maker, partnerComponents(market.chainId, terms, sale));
}

async function openConduit(market: MarketContext, { maker, nft }: PartnerSale): Promise<void> {
  const args = [maker.address, commonConduit.address] as const;
  const asked = {
    address: nft.contract,
    abi: erc721Abi,
    functionName: "isApprovedForAll",
  } as const;
  if (await market.client.readContract({ ...asked, args })) return;
  await accountSigner(market, maker).transact({
    to: nft.contract,
    data: encodeFunctionData({
      abi: erc721Abi,
      functionName: "setApprovalForAll",
      args: [commonConduit.address, true],
    }),
  });
}

/** Order types from here on ask the order's zone. Seaport `OrderType`. */
const restricted = 2;

/** The partner's form of a listing: `opensea` restricts it to its zone and tags the salt, `magiceden` leaves it open. */
export function partnerComponents(
  chainId: MarketContext["chainId"],
  terms: MakerChoices,
  sale: Omit<PartnerSale, "maker">,
): OrderComponents {
  const { partner, nft, priceWei, quantity = 1n, currency = "native", durationSeconds } = sale;
  const { isWhole = false } = sale;
  const listing = draftListingComponents({
    ...terms,
    nft,
    quantity,
    price: priceOf(sale, priceWei),
  });
  const endTime =
    durationSeconds === undefined ? terms.endTime : terms.startTime + BigInt(durationSeconds);
  const paid = inCurrency(currency === "native" ? null : wrappedNative[chainId]);
  const consideration = listing.consideration.map(paid);
  const type = isWhole ? orderType.fullOpen : listing.orderType;
  const shared = { ...listing, endTime, consideration, orderType: type };
  if (partner === "magiceden") return shared;
  return {
    ...shared,
    zone: signedZone,
    orderType: type + restricted,
    salt: openSeaSalt(terms.salt),
  };
}

function priceOf({ partner, creatorFees = [] }: Omit<PartnerSale, "maker">, wei: bigint): Price {
  const [creator] = creatorFees;
  return {
    unitPriceWei: wei,
    fee: { recipient: partnerFeeRecipients[partner], bps: partnerFeeBps[partner] },
    royalty: creator
      ? { recipient: creator.recipient, royaltyWei: (wei * BigInt(creator.bps)) / 10_000n }
      : null,
  };
}

const inCurrency = (token: Address | null) => (leg: OrderComponents["consideration"][number]) =>
  token === null ? leg : { ...leg, itemType: itemType.erc20, token };

/** The first four bytes say who made the order, the last eight make it one of its kind. */
function openSeaSalt(salt: bigint): bigint {
  const tag: Hex = "0x360c6ebe";
  return (BigInt(tag) << 224n) | BigInt.asUintN(64, salt ^ (salt >> 64n));
}

type Bulk = {
  partner: StandInName;
  chainId: ChainId;
  contract: Address;
  count: number;
  firstTokenId?: bigint;
  maker: LocalAccount;
  now: number;
};

/** One signature covers so many listings. */
const perSignature = 256;
const lifetimeSeconds = 30 * 24 * 60 * 60;

/** Listings that are signed but whose tokens nobody minted: what a sync has to read, and nothing more. */
export async function addBulkListings(book: ListingStore, bulk: Bulk): Promise<void> {
  const { partner, chainId, contract, count, firstTokenId = 1n, maker, now } = bulk;
  const startTime = BigInt(now - 60);
  const terms = {
    maker: maker.address,
    startTime,
    endTime: startTime + BigInt(lifetimeSeconds),
    salt: firstTokenId,
    counter: 0n,
  };
  const base = (step: bigint): OrderComponents =>
    partnerComponents(chainId, terms, {
      partner,
      nft: { standard: "erc721", contract, tokenId: 0n },
      priceWei: (step + 1n) * 10n ** 15n,
      currency: partner === "magiceden" && step % 4n === 3n ? "wrapped" : "native",
    });
  const bases = Array.from({ length: 64 }, (_, step) => hashingBase(base(BigInt(step))));
  for (let first = 0; first < count; first += perSignature) {
    const length = Math.min(perSignature, count - first);
    const made = Array.from({ length }, (_, index) => {
      const [start = hashingBase(base(0n))] = [bases[(first + index) % bases.length]];
      return withToken(start, firstTokenId + BigInt(first + index));
    });
    const signatures = await signTogether(
      maker,
      chainId,
      made.map(({ hash }) => hash),
    );
    for (const [index, { components, hash }] of made.entries())
      book.add({
        chainId,
        hash,
        isWatched: false,
        listedAt: now,
        order: { components, signature: signatures[index] ?? "0x" },
      });
  }
}

async function signTogether(
  maker: LocalAccount,
  chainId: ChainId,
  hashes: readonly Hex[],
): Promise<Hex[]> {
  if (maker.sign === undefined) throw new TypeError(`${maker.address} cannot sign a digest`);
  const { root, height, proofs } = bulkOrderTree(hashes);
  const digest = signingDigest(bulkOrderHash(root, height), exchangeDomain(chainId));
  const signature = await maker.sign({ hash: digest });
  return proofs.map((proof, index) => bulkSignature(signature, index, proof));
}

const members = (name: keyof typeof orderTypes) =>
  `${name}(${orderTypes[name].map(({ type, name }) => `${type} ${name}`).join(",")})`;
const typeHash = (...names: (keyof typeof orderTypes)[]) =>
  keccak256(stringToHex(names.map(members).join("")));
const hashes = {
  offerItem: typeHash("OfferItem"),
  considerationItem: typeHash("ConsiderationItem"),
  order: typeHash("OrderComponents", "ConsiderationItem", "OfferItem"),
};
const word = (value: bigint | number) => numberToHex(value, { size: 32 });

type HashingBase = { components: OrderComponents; before: Hex; between: Hex };

/** All of an order's struct that does not depend on its token, laid out for hashing. */
function hashingBase(components: OrderComponents): HashingBase {
  const { offerer, zone, consideration, orderType, startTime, endTime, counter } = components;
  const legs = consideration.map((leg) =>
    keccak256(concatHex([hashes.considerationItem, ...itemWords(leg), pad(leg.recipient)])),
  );
  return {
    components,
    before: concatHex([hashes.order, pad(offerer), pad(zone)]),
    between: concatHex([
      ...[keccak256(concatHex(legs)), word(orderType), word(startTime), word(endTime)],
      ...[components.zoneHash, word(components.salt), components.conduitKey, word(counter)],
    ]),
  };
}

const itemWords = (item: OfferItem): Hex[] => [
  ...[word(item.itemType), pad(item.token), word(item.identifierOrCriteria)],
  ...[word(item.startAmount), word(item.endAmount)],
];

/** The order for one token; its hash takes three keccaks instead of a walk through the types. */
function withToken({ components, before, between }: HashingBase, tokenId: bigint) {
  const offer = components.offer.map((item) => ({ ...item, identifierOrCriteria: tokenId }));
  const items = offer.map((item) => keccak256(concatHex([hashes.offerItem, ...itemWords(item)])));
  const hash = keccak256(concatHex([before, keccak256(concatHex(items)), between]));
  return { components: { ...components, offer }, hash };
}
