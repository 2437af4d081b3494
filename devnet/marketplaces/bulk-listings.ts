import { type Address, concatHex, type Hex, keccak256, type LocalAccount, numberToHex, pad, stringToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { bulkOrderHash, bulkOrderTree, bulkSignature, exchangeDomain, signingDigest } from "#projections/domain/seaport/order-hash.ts";
import { type OfferItem, type OrderComponents, orderTypes } from "#projections/domain/seaport/order-components.ts";
import type { ListingStore } from "./listing-store.ts";
import { type PartnerName, partnerComponents } from "./make-partner-listing.ts";

type Bulk = {
  partner: PartnerName;
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
