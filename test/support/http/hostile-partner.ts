import type { Address } from "viem";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { presentWhole } from "#devnet/marketplaces/seaport-shapes.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { Database } from "#projections/log/database.ts";
import { addressOf } from "../database/given.ts";
import { givenListing } from "../orders/order-facts.ts";
import { openSync, openTestPartner } from "../orders/partner-sync.ts";
import { openDocumentHost } from "./document-host.ts";
import { chainId } from "./served-market-data.ts";

/** In every text of a hostile partner: no page shows any of them. */
export const partnerMark = "partners-own-words";

const script = `window.attacked = "${partnerMark}"`;
const markup = `"><script>${script}</script><img src=x onerror="${script}">`;
const maxUint256 = 2n ** 256n - 1n;
const { punks, editions } = contracts;
const now = BigInt(Math.floor(Date.now() / 1_000));

type Attack = {
  /** Of the order; the others are those of a listing of Alice's. */
  terms?: Partial<Parameters<typeof givenListing>[0]>;
  change?: (components: OrderComponents) => Partial<OrderComponents>;
  signature?: string;
  /** What the partner says beside the order. */
  says?: Readonly<Record<string, unknown>>;
};

const payments = (count: number) => (components: OrderComponents) => ({
  consideration: Array.from({ length: count }, (_, index) => {
    const [leg] = components.consideration;
    if (leg === undefined) throw new Error("a listing is paid");
    const recipient = index === 0 ? leg.recipient : addressOf(0xbad00 + index);
    return { ...leg, recipient, startAmount: 10n ** 18n, endAmount: 10n ** 18n };
  }),
});

/** Listings that are recorded: their orders are valid, whatever stands beside them. */
export const partnerAttacks: Readonly<Record<string, Attack>> = {
  "markup in its name, description and links": {
    says: {
      source: { domain: markup, name: markup, icon: `javascript:${script}`, url: `//${markup}` },
      ...{
        name: markup,
        description: `</p><script>${script}</script>`,
        title: `</title>${markup}`,
      },
      ...{ image: `data:text/html,${markup}`, permalink: `javascript:${script}` },
      metadata: { name: markup, image: `javascript:${script}`, attributes: [{ [markup]: markup }] },
    },
  },
  "a text of 100,000 letters": { says: { name: partnerMark.repeat(6_000) } },
  "text from right to left": { says: { name: `\u202E${partnerMark}\u2067`, currency: "\u202E" } },
  "fields of every object": {
    says: JSON.parse(
      `{"__proto__": {"marketplace": "${partnerMark}"}, "constructor": {"prototype": {"attacked": "${partnerMark}"}}}`,
    ),
  },
  "another price than the order's": {
    says: {
      price: { currency: { symbol: markup, decimals: -1 }, amount: { raw: markup, usd: 1e308 } },
    },
  },
  "a listing that never ends": { terms: { endTime: maxUint256 } },
  "a listing that ends in the year 300,000": { terms: { endTime: 9_000_000_000_000n } },
  "a listing that begins in the year 300,000": {
    terms: { startTime: 9_000_000_000_000n, endTime: maxUint256 },
  },
  "a listing that ends before it begins": {
    terms: { startTime: now + 80_000n, endTime: now + 40_000n },
  },
  "a price of 2^128 wei": { terms: { unitPriceWei: 2n ** 127n } },
  "a price of one wei": { terms: { unitPriceWei: 1n } },
  "a token id of 78 digits": { terms: { tokenId: maxUint256 } },
  "2^119 units": {
    terms: { contract: editions, standard: "erc1155", quantity: 2n ** 119n, unitPriceWei: 1n },
  },
  "24 payments": { change: payments(24) },
  "a payment to nobody": {
    change: ({ consideration }) => ({
      consideration: consideration.map((leg) => ({ ...leg, recipient: addressOf(0) })),
    }),
  },
  "the wrapped coin as a collection": { terms: { contract: wrappedNative[chainId] } },
  "a collection that does not exist": { terms: { contract: addressOf(0xdead) } },
  "nobody as its seller": { terms: { maker: addressOf(0) } },
  "a counter and a salt of 78 digits": { terms: { counter: maxUint256, salt: maxUint256 } },
  "a zone and a conduit that nobody knows": {
    change: () => ({
      ...{ zone: addressOf(0xbad), zoneHash: `0x${"ff".repeat(32)}`, orderType: 3 },
      conduitKey: `0x${"ee".repeat(32)}`,
    }),
  },
  "a signature that is markup": {
    signature: `0x${Buffer.from(markup.repeat(30)).toString("hex")}`,
  },
};

/** Entries that are skipped. */
const skippedEntries: readonly ((entry: Record<string, unknown>) => unknown)[] = [
  (entry) => ({ ...entry, id: markup }),
  (entry) => ({ ...entry, kind: markup }),
  (entry) => ({ ...entry, side: markup }),
  (entry) => ({ ...entry, status: markup }),
  (entry) => ({ ...entry, rawData: { [markup]: markup } }),
  (entry) => ({ ...entry, rawData: markup }),
  (entry) => ({ ...entry, source: { domain: { [markup]: markup } } }),
  (entry) => ({ ...entry, rawData: { ...Object(entry.rawData), salt: markup } }),
  (entry) => ({ ...entry, rawData: { ...Object(entry.rawData), signature: markup } }),
  () => markup,
  () => [markup],
];

function componentsOf({ terms, change }: Attack, index: number): OrderComponents {
  const { components } = givenListing({
    ...{ chainId, maker: accounts.alice.address.toLowerCase() as Address, contract: punks },
    ...{ tokenId: BigInt(1 + index), salt: BigInt(index), endTime: now + 86_400n, ...terms },
  });
  return { ...components, ...change?.(components) };
}

/** The order as Magic Eden answers it. */
function entryOf(components: OrderComponents, { says, signature }: Attack) {
  return {
    ...{ kind: "seaport-v1.6", side: "sell", status: "active", ...says },
    id: orderHash(components),
    rawData: { ...presentWhole(components), signature: signature ?? `0x${"22".repeat(64)}` },
  };
}

export type HostileListing = {
  attack: string;
  askId: string;
  contract: Address;
  tokenId: bigint;
};

/**
 * Reads the listings of a hostile marketplace by its adapter, as the job does, and those of one that names its
 * collections so.
 */
export async function recordHostilePartners(db: Database): Promise<HostileListing[]> {
  const host = await openDocumentHost();
  const orders = Object.entries(partnerAttacks).map(([name, attack], index) => {
    const components = componentsOf(attack, index);
    return { name, components, entry: entryOf(components, attack) };
  });
  const [plain] = orders;
  const skipped = skippedEntries.map((spoil) => spoil(plain?.entry ?? {}));
  const answers = [...orders.map(({ entry }) => entry), ...skipped];
  host.answers((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", host.origin);
    const isFirst = !searchParams.has("continuation");
    const body = pathname.startsWith("/api/v2/")
      ? openseaAnswer(pathname)
      : { orders: isFirst ? answers : [], continuation: isFirst ? markup : null };
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  const own = [...new Set(orders.map(({ components }) => components.offer[0]?.token ?? punks))];
  for (const name of ["magiceden", "opensea"] as const) {
    const partner = openTestPartner(name, { url: host.origin });
    const sync = openSync(db, partner, [chainId]);
    await sync.enroll(...own);
    const outcome = await sync.run();
    await partner.close();
    if (outcome !== "idle") throw new Error(`${name}: ${outcome}`);
  }
  await host.close();
  return orders.map(({ name, components }) => {
    const [item] = components.offer;
    if (item === undefined) throw new Error("a listing offers a token");
    const { token: contract, identifierOrCriteria: tokenId } = item;
    return { attack: name, askId: `magiceden-${orderHash(components)}`, contract, tokenId };
  });
}

function openseaAnswer(pathname: string): unknown {
  if (pathname.includes("/contract/")) return { collection: `../..${markup}`, name: markup };
  if (pathname.startsWith("/api/v2/collections/")) {
    const fees = [{ fee: 50, recipient: addressOf(0xbad), required: true, name: markup }];
    const contracts = [{ address: `javascript:${script}`, chain: markup }];
    const links = { project_url: `javascript:${script}`, discord_url: markup, image_url: markup };
    return { collection: markup, name: markup, description: markup, ...links, contracts, fees };
  }
  return { listings: [{ [markup]: markup }, { order_hash: markup }], next: null };
}
