import { type Address, keccak256, stringToHex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { type ChainId, chainIds, wrappedNative } from "#chains/index.ts";
import { allProjections } from "#projections/all.ts";
import type { ListingMarketplace } from "#projections/domain/marketplaces.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjections,
  project,
  zeroAddress,
} from "../database/given.ts";
import {
  approval,
  cancelled,
  feeRecipient,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  receivedAt,
} from "./order-facts.ts";
import { givenPartnerOrder, partnerListingOf, seen, zeroConduit } from "./partner-orders.ts";

type Contract = { address: Address; chainId: ChainId; standard: "erc721" | "erc1155" };

/** `kinSecond` is the second contract of the collection with primary `kin`; `mirror` is on two chains and unregistered. */
export const nfts = {
  punks: { address: addressOf(1), chainId: 1, standard: "erc721" },
  kin: { address: addressOf(2), chainId: 1, standard: "erc721" },
  kinSecond: { address: addressOf(3), chainId: 1, standard: "erc721" },
  editions: { address: addressOf(4), chainId: 1, standard: "erc1155" },
  apes: { address: addressOf(5), chainId: 33139, standard: "erc721" },
  mirror: { address: addressOf(6), chainId: 1, standard: "erc721" },
  mirrored: { address: addressOf(6), chainId: 33139, standard: "erc721" },
} satisfies Record<string, Contract>;

/** `pauper` has approved nothing and owns no currency; `carol` has the orders with special histories. */
export const makers = { of: (index: number) => addressOf(50 + (index % 5)), carol: addressOf(60) };
export const pauper = makers.of(4);

/** Unix seconds of the test; orders that end early do so at `earlyEnd`. There is no clock tick in the log. */
export const openedAt = receivedAt + 3_600n;
export const earlyEnd = receivedAt + 10_000n;

export type SeededOrder = {
  order: GivenOrder;
  contract: Contract;
  tokenId: bigint | null;
  maker: Address;
  priceWei: bigint;
  createdAt: bigint;
  endsAt: bigint;
  status: "active" | "inactive" | "filled" | "cancelled";
  marketplace: ListingMarketplace;
  /** While it is active. */
  isBuyable: boolean;
  fact: Observation;
};

type SeedTerms = Pick<SeededOrder, "contract" | "maker" | "priceWei"> &
  Partial<SeededOrder> & { quantity?: bigint; royaltyWei?: bigint };

function listed(terms: SeedTerms & { tokenId: bigint }): SeededOrder {
  return seeded(terms, terms.tokenId, (given) =>
    givenListing({ ...given, tokenId: terms.tokenId }),
  );
}

function bidFor(terms: SeedTerms): SeededOrder {
  const { tokenId = null } = terms;
  return seeded(terms, tokenId, (given) =>
    givenBid(tokenId === null ? given : { ...given, tokenId }),
  );
}

type GivenTerms = Parameters<typeof givenBid>[0];

function seeded(
  terms: SeedTerms,
  tokenId: bigint | null,
  give: (terms: GivenTerms) => GivenOrder,
): SeededOrder {
  const { contract, maker, priceWei, quantity = 1n } = terms;
  const { createdAt = receivedAt, endsAt = receivedAt + 86_400n, status = "active" } = terms;
  const order = give({
    chainId: contract.chainId,
    contract: contract.address,
    standard: contract.standard,
    maker,
    quantity,
    unitPriceWei: priceWei,
    endTime: endsAt,
    receivedAt: createdAt,
    royaltyWei: terms.royaltyWei ?? 0n,
  });
  const { marketplace = "native", isBuyable = true } = terms;
  const fact =
    marketplace === "native"
      ? order.submitted
      : seen(partnerListingOf(marketplace, order), { at: createdAt });
  return {
    ...{ order, contract, tokenId, maker, priceWei, createdAt, endsAt, status },
    ...{ marketplace, isBuyable, fact },
  };
}

const traded = [nfts.punks, nfts.kin, nfts.kinSecond, nfts.editions];
const contractOf = (index: number) => traded[index % traded.length] ?? nfts.punks;
const endOf = (index: number) => (index % 11 === 0 ? earlyEnd : receivedAt + 86_400n);
/** Not in the order of submission, and several at once. */
const creationOf = (index: number) => receivedAt + BigInt((index * 13) % 40);

/** On chain 1 with equal prices among them; an edition's id is listed by all five makers. */
const manyListings = Array.from({ length: 137 }, (_, index) =>
  listed({
    contract: contractOf(index),
    tokenId: BigInt(index % 4 === 3 ? Math.floor(index / 20) : index),
    maker: makers.of(index),
    priceWei: BigInt(((index * 37) % 50) + 1) * 10n ** 16n,
    createdAt: creationOf(index),
    endsAt: endOf(index),
    status: makers.of(index) === pauper ? "inactive" : "active",
  }),
);

const { carol } = makers;
const onPunks = { contract: nfts.punks, maker: carol };

/** Listings with special histories. Those of `mirror` and `mirrored` have one order hash. */
export const special = {
  superseded: listed({ ...onPunks, tokenId: 1000n, priceWei: 5n * 10n ** 18n, status: "inactive" }),
  cheaper: listed({ ...onPunks, tokenId: 1000n, priceWei: 4n * 10n ** 18n }),
  cancelled: listed({ ...onPunks, tokenId: 1001n, priceWei: 10n ** 18n, status: "cancelled" }),
  filled: listed({ ...onPunks, tokenId: 1002n, priceWei: 10n ** 18n, status: "filled" }),
  partlyFilled: listed({
    contract: nfts.editions,
    maker: carol,
    tokenId: 77n,
    priceWei: 123_456_789_012_345_678n,
    quantity: 10n,
  }),
  mirror: listed({
    contract: nfts.mirror,
    maker: carol,
    tokenId: 5n,
    priceWei: 10n ** 18n,
    status: "inactive",
  }),
  mirrored: listed({ contract: nfts.mirrored, maker: carol, tokenId: 5n, priceWei: 10n ** 18n }),
};

const apeListings = [3n, 1n, 2n].map((price, index) =>
  listed({
    contract: nfts.apes,
    maker: carol,
    tokenId: BigInt(index),
    priceWei: price * 10n ** 18n,
  }),
);

/**
 * What partners show of the makers' tokens, in both currencies. Of a conduit other than the common one nobody knows
 * whether the pauper approved it.
 */
const shownListings = manyListings.slice(0, 110).map((own, index) => {
  const { contract, maker } = own;
  const tokenId = own.tokenId ?? 0n;
  const [isOpensea, isWrapped, isOpen] = [index % 3 !== 0, index % 5 === 0, index % 7 !== 0];
  const isElsewhere = index % 2 === 0;
  const terms: SeedTerms = {
    ...{ contract, maker, tokenId },
    priceWei: BigInt(((index * 31) % 50) + 1) * 10n ** 16n,
    createdAt: creationOf(index + 7),
    endsAt: endOf(index + 3),
    status: maker === pauper && !isElsewhere ? "inactive" : "active",
    marketplace: isOpensea ? "opensea" : "magiceden",
    isBuyable: isOpensea ? !isWrapped : isOpen && !isElsewhere,
  };
  return seeded(terms, tokenId, (terms) =>
    givenPartnerOrder({
      ...{ ...terms, tokenId, isWrapped },
      ...(isElsewhere && { conduitKey: zeroConduit }),
      ...(!isOpen && { orderType: 2 }),
    }),
  );
});

export const listings = [
  ...manyListings.slice(0, 60),
  ...shownListings.slice(0, 80),
  ...manyListings.slice(60),
  ...Object.values(special),
  ...shownListings.slice(80),
  ...apeListings,
];

/** A third of them are collection bids. Royalties differ, so that the highest price is not the highest net. */
const manyBids = Array.from({ length: 97 }, (_, index) =>
  bidFor({
    royaltyWei: BigInt(index % 4) * 11n * 10n ** 14n,
    contract: contractOf(index),
    tokenId: index % 3 === 0 ? null : BigInt(index % 7),
    maker: makers.of(index),
    priceWei: BigInt(((index * 29) % 40) + 1) * 10n ** 15n,
    createdAt: creationOf(index),
    endsAt: endOf(index),
    status: makers.of(index) === pauper ? "inactive" : "active",
  }),
);

/** Bids by which the best of token 500 changes hands: the highest ends first. */
export const rivals = {
  onToken: bidFor({
    contract: nfts.punks,
    tokenId: 500n,
    maker: carol,
    priceWei: 6n * 10n ** 17n,
    endsAt: earlyEnd,
  }),
  onCollection: bidFor({ contract: nfts.punks, maker: carol, priceWei: 5n * 10n ** 17n }),
};

const apeBids = [2n, 1n].map((price) =>
  bidFor({ contract: nfts.apes, maker: carol, tokenId: 9n, priceWei: price * 10n ** 18n }),
);

export const bids = [...manyBids, ...Object.values(rivals), ...apeBids];

/** Creates every projection's tables, and fills those of orders from facts that lead to the expected states. */
export async function seedOrders(db: Database) {
  const targets = await createProjections(db, allProjections({ feeRecipient }));
  const books = targets.filter(
    ({ projection: { name } }) => name !== "sales" && name !== "activity",
  );
  await appendEvents(db, ownershipEvents());
  await appendEvents(db, accountEvents());
  await appendObservations(db, [
    registered("punks", [nfts.punks]),
    registered("kin", [nfts.kin, nfts.kinSecond]),
    registered("editions", [nfts.editions]),
    registered("apes", [nfts.apes]),
    ...[...listings, ...bids].map(({ fact }) => fact),
  ]);
  const at = block(1, 3);
  await appendEvents(db, [
    cancelled(special.cancelled.order, { at, log: 0 }),
    filled(special.filled.order, 1n, { at, log: 1 }),
    filled(special.partlyFilled.order, 4n, { at, log: 2 }),
  ]);
  const catchUp = () => project(db, books);
  await catchUp();
  return { catchUp };
}

/** Makers own their listed tokens, except that of `mirror`, and one the token that rivals bid on. */
function ownershipEvents(): ChainEvent[] {
  const wanted = { contract: nfts.punks, tokenId: 500n, maker: makers.of(0) };
  return [...listings, wanted]
    .filter(({ contract }) => contract !== nfts.mirror)
    .map(({ contract, tokenId, maker }, index) => ({
      kind: contract.standard === "erc721" ? "erc721_transfer" : "erc1155_transfer",
      block: block(contract.chainId, 1),
      logIndex: index,
      contract: contract.address,
      from: zeroAddress,
      to: maker,
      ...(tokenId !== null && { tokenId }),
      ...(contract.standard === "erc1155" && { amount: 10n }),
    }));
}

/** All makers except the pauper have approved every contract and have currency that the exchange may spend. */
function accountEvents(): ChainEvent[] {
  const solvent = [0, 1, 2, 3].map(makers.of).concat(carol);
  const approvals = solvent.flatMap((maker) =>
    Object.values(nfts).map(({ address, chainId }) => ({ maker, address, chainId })),
  );
  return [
    ...approvals.map(({ maker, address, chainId }, log) =>
      approval(address, maker, true, { at: block(chainId, 2), log }),
    ),
    ...chainIds.flatMap((chainId) =>
      solvent.flatMap((maker, index) => fundingEvents(chainId, maker, 1000 + index * 2)),
    ),
  ];
}

function fundingEvents(chainId: ChainId, maker: Address, logIndex: number): ChainEvent[] {
  const wrapped = {
    block: block(chainId, 2),
    contract: wrappedNative[chainId],
    amount: 10n ** 24n,
  };
  return [
    { ...wrapped, kind: "wrapped_deposit", logIndex, to: maker },
    {
      ...wrapped,
      kind: "erc20_approval",
      logIndex: logIndex + 1,
      from: maker,
      to: seaportAddresses["1.6"],
    },
  ];
}

function registered(slug: string, family: readonly Contract[]): Observation {
  const [primary = nfts.punks] = family;
  return {
    kind: "collection_registered",
    chainId: primary.chainId,
    contract: primary.address,
    identity: keccak256(stringToHex(`registered ${slug}`)),
    recordedAt: new Date(Number(receivedAt) * 1000),
    payload: {
      slug,
      name: slug.toUpperCase(),
      verified: true,
      primary: primary.address,
      contracts: family.map(({ address }) => address),
    },
  };
}
