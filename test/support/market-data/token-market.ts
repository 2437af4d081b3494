import { type Address, keccak256, stringToHex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { partnerNames } from "#projections/domain/partners.ts";
import type { Observation } from "#projections/log/append.ts";
import { tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { someElsewhere } from "#test/simulation/partners.ts";
import type { Random } from "#test/simulation/random.ts";
import { addressOf, type Block, block, type ChainEvent } from "../database/given.ts";
import {
  approval,
  cancelled,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  receivedAt,
  ticked,
  transferred,
} from "../orders/order-facts.ts";
import { partnerListingOf, seen, withdrawn } from "../orders/partner-orders.ts";
import type { Fact } from "../orders/projected-log.ts";

export type Attribute = {
  trait_type: string;
  value: string | number | boolean;
  display_type?: string;
};

type Contract = { address: Address; standard: "erc721" | "erc1155" };

/** `kinSecond` is a second contract of the collection whose primary contract is `kin`: they share token ids. */
export const nfts = {
  punks: { address: addressOf(1), standard: "erc721" },
  kin: { address: addressOf(2), standard: "erc721" },
  kinSecond: { address: addressOf(3), standard: "erc721" },
  editions: { address: addressOf(4), standard: "erc1155" },
} satisfies Record<string, Contract>;
const contracts = Object.values(nfts) as Contract[];

export const holders = [1, 2, 3, 4].map((index) => addressOf(200 + index));
export const dead: Address = "0x000000000000000000000000000000000000dead";

export function collectionsRegistered(): Observation[] {
  const collections = {
    punks: [nfts.punks],
    kin: [nfts.kin, nfts.kinSecond],
    editions: [nfts.editions],
  };
  return Object.entries(collections).map(([slug, own]) => ({
    kind: "collection_registered",
    chainId: 1,
    contract: own[0]?.address ?? nfts.punks.address,
    identity: keccak256(stringToHex(`registered ${slug}`)),
    recordedAt: new Date(Number(receivedAt) * 1000),
    payload: {
      slug,
      name: slug.toUpperCase(),
      verified: true,
      primary: own[0]?.address,
      contracts: own.map(({ address }) => address),
    },
  }));
}

let told = 0;
/** A metadata fetch; without attributes, a failed one. */
export function described(
  contract: Address,
  tokenId: bigint,
  attributes: readonly Attribute[] | null,
): Observation {
  told += 1;
  const subject = { chainId: 1, contract, tokenId, recordedAt: at(told), after: BigInt(told) };
  const uri = `https://tokens.example.test/${tokenId}`;
  if (attributes === null) return tokenMetadataFetched(subject, uri, { error: "none", attempt: 1 });
  return tokenMetadataFetched(subject, uri, {
    name: `Token ${tokenId}`,
    description: null,
    image: `https://images.example.test/${tokenId}`,
    animation: null,
    contentType: null,
    attributes: attributes as never,
  });
}

const at = (second: number) => new Date((Number(receivedAt) + second) * 1000);

/** The next step of the market: facts, or a block that is retracted or readopted. */
export type MarketStep = { facts: Fact[] } | { drop: Block } | { restore: Block };

/** A market in which anything may happen to a few tokens. Its time goes on from `receivedAt`. */
export function openTokenMarket(random: Random) {
  const orders: GivenOrder[] = [];
  /** The last receiver of a token, disregarding retracted blocks. */
  const receivers = new Map<string, Address>();
  const dropped: Block[] = [];
  let height = 10;
  let log = 0;
  let salt = 0;
  let now = receivedAt;
  const place = () => {
    log += 1;
    if (log % 4 === 0) height += 1;
    return { at: block(1, height), log };
  };
  const holder = () => random.pick(holders);
  const token = () => ({ contract: random.pick(contracts), tokenId: BigInt(random.int(1, 9)) });

  function gift({ address, standard }: Contract, tokenId: bigint): ChainEvent {
    const units = standard === "erc1155" ? { units: 5n } : {};
    const to = holder();
    receivers.set(`${address}/${tokenId}`, to);
    return transferred({ contract: address, tokenId, to, ...units }, place());
  }

  function move(): Fact {
    const { contract, tokenId } = token();
    const units = contract.standard === "erc1155" ? { units: BigInt(random.int(1, 5)) } : {};
    const to = random.chance(0.15) ? dead : holder();
    receivers.set(`${contract.address}/${tokenId}`, to);
    const from = contract.standard === "erc1155" && random.chance(0.4) ? { from: holder() } : {};
    return transferred({ contract: contract.address, tokenId, to, ...from, ...units }, place());
  }

  /** A range of ids (ERC-2309) moves at once. */
  function moveRange(): Fact {
    const contract = random.pick([nfts.punks, nfts.kin, nfts.kinSecond]);
    const [first, count] = [random.int(1, 9), random.int(1, 5)];
    const to = random.chance(0.15) ? dead : holder();
    for (let id = first; id < first + count; id += 1)
      receivers.set(`${contract.address}/${id}`, to);
    return {
      ...transferred({ contract: contract.address, tokenId: BigInt(first), to }, place()),
      kind: "erc721_consecutive_transfer",
      amount: BigInt(count),
    };
  }

  function list(): Fact {
    const { contract, tokenId } = token();
    salt += 1;
    const receiver = receivers.get(`${contract.address}/${tokenId}`);
    const terms = {
      maker: receiver !== undefined && random.chance(0.8) ? receiver : holder(),
      contract: contract.address,
      standard: contract.standard,
      tokenId,
      quantity: contract.standard === "erc1155" ? BigInt(random.int(1, 3)) : 1n,
      unitPriceWei: BigInt(random.int(1, 6)) * 10n ** 17n,
      salt: BigInt(salt),
      endTime: now + BigInt(random.int(20, 900)),
      receivedAt: now,
    };
    const isElsewhere = random.chance(0.4);
    const order = isElsewhere ? someElsewhere(random)(terms) : givenListing(terms);
    orders.push(order);
    return isElsewhere
      ? seen(partnerListingOf(random.pick(partnerNames), order), { at: now })
      : order.submitted;
  }

  function bid(): Fact {
    const { contract, tokenId } = token();
    salt += 1;
    return givenBid({
      maker: holder(),
      contract: contract.address,
      standard: contract.standard,
      ...(random.chance(0.5) ? { tokenId } : {}),
      unitPriceWei: BigInt(random.int(1, 6)) * 10n ** 16n,
      salt: BigInt(salt),
      endTime: now + BigInt(random.int(20, 400)),
      receivedAt: now,
    }).submitted;
  }

  function describe(): Fact {
    const { contract, tokenId } = token();
    if (random.chance(0.1)) return described(contract.address, tokenId, null);
    return described(contract.address, tokenId, randomAttributes(random));
  }

  function endAnOrder(): Fact {
    const order = random.pick(orders);
    if (random.chance(0.3)) return withdrawn(partnerListingOf(random.pick(partnerNames), order));
    return random.chance(0.5) ? cancelled(order, place()) : filled(order, 1n, place());
  }

  function letTimePass(): Fact {
    now += BigInt(random.int(5, 60));
    return ticked(now);
  }

  const approve = () =>
    approval(random.pick(contracts).address, holder(), random.chance(0.8), place());
  const happenings = [
    ...Array.from({ length: 6 }, () => move),
    ...Array.from({ length: 6 }, () => list),
    ...Array.from({ length: 4 }, () => describe),
    ...[bid, letTimePass, approve, moveRange],
  ];
  const happening = (): Fact =>
    orders.length > 0 && random.chance(0.05) ? endAnOrder() : random.pick(happenings)();

  return {
    /** Everybody approves every contract and has currency to bid with; tokens are given out and most are described. */
    opening(): { events: ChainEvent[]; observations: Observation[] } {
      const approvals = contracts.flatMap(({ address }) =>
        holders.map((owner) => approval(address, owner, true, place())),
      );
      const tokens = contracts.flatMap((contract) =>
        [1n, 2n, 3n, 4n, 5n, 6n, 7n].map((tokenId) => ({ contract, tokenId })),
      );
      const gifts = tokens.map(({ contract, tokenId }) => gift(contract, tokenId));
      const documents = tokens
        .filter(({ tokenId }) => tokenId < 6n)
        .map(({ contract, tokenId }) =>
          described(contract.address, tokenId, tokenId < 5n ? randomAttributes(random) : null),
        );
      const funds = holders.flatMap((holder): ChainEvent[] => {
        const currency = {
          contract: wrappedNative[1],
          amount: 10n ** 24n,
          block: block(1, height),
        };
        const [paid, allowed] = [place().log, place().log];
        return [
          { ...currency, kind: "wrapped_deposit", logIndex: paid, to: holder },
          {
            ...currency,
            kind: "erc20_approval",
            logIndex: allowed,
            from: holder,
            to: seaportAddresses["1.6"],
          },
        ];
      });
      return { events: [...approvals, ...funds, ...gifts], observations: documents };
    },
    now: () => now,
    next(): MarketStep {
      const [back] = dropped;
      if (back !== undefined && random.chance(0.5)) {
        dropped.shift();
        return { restore: back };
      }
      if (random.chance(0.06)) {
        const gone = block(1, random.int(11, height));
        if (dropped.every(({ number }) => number !== gone.number)) {
          dropped.push(gone);
          return { drop: gone };
        }
      }
      return { facts: Array.from({ length: random.int(1, 6) }, happening) };
    },
  };
}

/** Types in several spellings, values of every sort, repetitions, and what is no attribute. */
function randomAttributes(random: Random): Attribute[] {
  const all: (() => Attribute)[] = [
    () => ({
      trait_type: random.pick(["Fur", "fur", "F u r"]),
      value: random.pick(["Gold", "gold", "Tan"]),
    }),
    () => ({ trait_type: "Eyes", value: random.pick(["Laser", "Sad", "none"]) }),
    () => ({ trait_type: "Level", value: random.int(1, 4), display_type: "number" }),
    () => ({ trait_type: "Tier", value: random.pick([1, 2, "Elite"]) }),
    () => ({ trait_type: "Awake", value: random.chance(0.5) }),
    () => ({ trait_type: "Serial", value: random.pick(["007", "12", "3.5"]) }),
    () => ({ trait_type: " ", value: "nameless" }),
    () => ({ trait_type: "Story", value: "x".repeat(random.pick([900, 1_200])) }),
  ];
  return random
    .shuffle([...all, ...all.slice(0, 2)])
    .slice(0, random.int(0, 6))
    .map((make) => make());
}

/** The traits among a token's attributes, of repeated ones the first. `same` is equal in all spellings of the type. */
export function traitsAmong(
  attributes: readonly { trait_type: string; value: unknown }[],
): { same: string; type: string; value: unknown }[] {
  const found = new Map<string, { same: string; type: string; value: unknown }>();
  for (const { trait_type: type, value } of attributes) {
    const same = `${sameType(type)}=${value}`;
    const isTrait = type.trim() !== "" && String(value).length <= 1000;
    if (isTrait && !found.has(same)) found.set(same, { same, type, value });
  }
  return [...found.values()];
}

export function sameType(type: string): string {
  return type.replaceAll(/\s/g, "").toLowerCase();
}
