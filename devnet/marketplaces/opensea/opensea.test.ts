import { parseEther, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { installContracts } from "#devnet/install.ts";
import { type Actors, createActors } from "#devnet/market/actors.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { signOrder } from "#devnet/market/signed-orders.ts";
import { accountSigner, type MarketContext, sendAsMined } from "#devnet/market/signer.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { StoredListing } from "../listing-store.ts";
import { makePartnerListing } from "../make-partner-listing.ts";
import { proposeFill } from "../propose-fill.fixture.ts";
import { hasPublished, publishedSchema, readRecorded } from "../published-documents.fixture.ts";
import { presentWhole } from "../seaport-shapes.ts";
import type { StandIn } from "../stand-in.ts";
import { openPartnerA } from "./opensea.ts";

const { alice, bob } = accounts;
const chainId = 1;
let anvil: Anvil;
let market: MarketContext;
let actors: Actors;
let partner: StandIn;
let nextTokenId = 1n;

beforeAll(async () => {
  anvil = await startAnvil({ chainId });
  const client = connect(anvil);
  await installContracts(client);
  market = { chainId, client, sending: sendAsMined(client), random: seededRandom(1) };
  actors = createActors(market);
  partner = await openPartnerA({ chains: [anvil] });
});
afterAll(async () => {
  await partner.close();
  await anvil.stop();
});

type Body = {
  listings: { order_hash: string }[];
  orders: { order_hash: string }[];
  next?: string | null;
  order: { status: string };
  errors: string[];
};

async function get(path: string): Promise<{ status: number; body: Body }> {
  const response = await fetch(partner.url + path);
  return { status: response.status, body: (await response.json()) as Body };
}

async function aliceMints() {
  const nft = { standard: "erc721", contract: contracts.punks, tokenId: nextTokenId++ } as const;
  await actors.alice.mints(nft);
  return nft;
}

const aliceSells = async () =>
  partner.sell({ chainId, maker: alice, nft: await aliceMints(), priceWei: parseEther("1") });

const creatorFees = [{ recipient: accounts.royaltyRecipient, bps: 500, isRequired: true }];
const makeCrossListing = async (): Promise<SignedOrder> =>
  makePartnerListing(market, {
    ...{ partner: "opensea", maker: alice, nft: await aliceMints(), priceWei: parseEther("3") },
    creatorFees,
  });

async function post({ components, signature }: SignedOrder) {
  const response = await fetch(`${partner.url}/api/v2/orders/ethereum/seaport/listings`, {
    method: "POST",
    body: JSON.stringify({
      parameters: {
        ...presentWhole(components),
        totalOriginalConsiderationItems: components.consideration.length,
      },
      protocol_address: seaportAddresses["1.6"],
      signature,
    }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

/** Walks a list to its end. */
async function walk(path: string, cursorName: "next" | "cursor"): Promise<string[]> {
  const hashes: string[] = [];
  for (let cursor: string | null | undefined = ""; cursor !== null && cursor !== undefined; ) {
    const { body } = await get(`${path}&${cursor === "" ? "" : `${cursorName}=${cursor}`}`);
    hashes.push(...(body.listings ?? body.orders).map((entry) => entry.order_hash));
    cursor = body.next;
  }
  return hashes;
}

describe("a listing posted to the partner", () => {
  it("is shown when it is as the partner wants it, once", async () => {
    const order = await makeCrossListing();
    const hash = orderHash(order.components);

    const { status, body } = await post(order);

    expect([status, body]).toMatchObject([200, { order_hash: hash, status: "ACTIVE" }]);
    const { body: listed } = await get("/api/v2/listings/collection/punks/all");
    expect(listed.listings[0]?.order_hash).toBe(hash);
    const again = await post(order);
    expect(again.status).toBe(400);
    expect(again.body.errors[0]).toMatch(/^Duplicate order: 0x/);
  });

  const changes: [string, (order: SignedOrder["components"]) => object, RegExp][] = [
    [
      "without the partner's fee",
      ({ consideration }) => ({ consideration: consideration.filter((_, index) => index !== 1) }),
      /fee of 250 basis points to 0x0000a26b\w+ is missing/,
    ],
    [
      "with too small a creator's fee",
      ({ consideration }) => ({
        consideration: consideration.map((leg, index) =>
          index === 2 ? { ...leg, startAmount: 10n ** 15n, endAmount: 10n ** 15n } : leg,
        ),
      }),
      /fee to 0x\w+c4ea70 is 1000000000000000, not/,
    ],
    [
      "that leaves the zone out",
      () => ({ zone: zeroAddress, orderType: 0 }),
      /restricted to the zone/,
    ],
    ["for another conduit", () => ({ conduitKey: zeroHash }), /conduit key/],
    ["that has ended", () => ({ endTime: 1_700_000_000n }), /expired/],
    ["whose counter is not the maker's", () => ({ counter: 7n }), /counter of 0x\w+ is 0/],
    [
      "of a token that the maker does not have",
      ({ offer }) => ({
        offer: offer.map((item) => ({ ...item, identifierOrCriteria: 999_999n })),
      }),
      /does not hold/,
    ],
  ];
  it.each(changes)("%s is refused with the reason", async (_, change, reason) => {
    const { components } = await makeCrossListing();
    const changed = { ...components, ...change(components) };
    const order = await signOrder(market, accountSigner(market, alice), changed);

    const { status, body } = await post(order);

    expect(status).toBe(400);
    expect(body.errors.join("; ")).toMatch(reason);
  });

  it("that somebody else signed is refused with the reason", async () => {
    const { components } = await makeCrossListing();
    const forged = await signOrder(market, accountSigner(market, bob), components);

    const { status, body } = await post(forged);

    expect([status, body]).toEqual([400, { errors: ["The signature is not the offerer's"] }]);
  });
});

describe("the partner's lists", () => {
  it("give every open listing once over their pages, also while one is withdrawn and one comes", async () => {
    const made: StoredListing[] = [];
    for (let count = 0; count < 5; count++) made.push(await aliceSells());
    const path = "/api/v2/listings/collection/punks/all?limit=2";
    const all = await walk(path, "next");

    const { body: first } = await get(path);
    const late = await aliceSells();
    expect(partner.withdraw(chainId, made[4]?.orderHash ?? "0x")).toBe(true);
    const { body: second } = await get(`${path}&next=${first.next}`);

    expect(second.listings.map((entry) => entry.order_hash)).toEqual(all.slice(2, 4));
    expect(new Set(all).size).toBe(all.length);
    const expected = [late.orderHash, ...all.filter((hash) => hash !== made[4]?.orderHash)];
    expect(await walk(path, "next")).toEqual(expected);
    const older = "/api/v2/orders/ethereum/seaport/listings?limit=2";
    expect(await walk(`${older}&asset_contract_address=${contracts.punks}`, "cursor")).toEqual(
      expected,
    );
    const { body: other } = await get(`${older}&asset_contract_address=${contracts.editions}`);
    expect(other.orders).toEqual([]);
  });

  it("go on showing what was cancelled until the partner looks at the chain", async () => {
    const shown = await aliceSells();
    await actors.alice.cancels(shown.order);
    const path = `/api/v2/orders/chain/ethereum/protocol/${seaportAddresses["1.6"]}/${shown.orderHash}`;

    expect((await get(path)).body.order.status).toBe("ACTIVE");
    await partner.look();

    expect((await get(path)).body.order.status).toBe("CANCELLED");
    const { orderHash: hash } = shown;
    const asked = { url: partner.url, chain: "ethereum", orderHash: hash, buyer: bob.address };
    expect((await proposeFill(asked)).status).toBe(400);
  });
});

if (hasPublished) {
  describe("the partner's answers", () => {
    it("are as its published document says", async () => {
      const { orderHash: hash } = await aliceSells();
      const place = `chain/ethereum/protocol/${seaportAddresses["1.6"]}/${hash}`;
      const answers: [string, unknown][] = [
        ["CollectionDetailedResponse", (await get("/api/v2/collections/family-one")).body],
        [
          "ContractResponse",
          (await get(`/api/v2/chain/ethereum/contract/${contracts.editions}`)).body,
        ],
        ["ListingsResponse", (await get("/api/v2/listings/collection/punks/all?limit=3")).body],
        ["GetOrderResponse", (await get(`/api/v2/orders/${place}`)).body],
        ["Listing", (await post(await makeCrossListing())).body],
      ];
      for (const [name, body] of answers)
        expect([name, publishedSchema("opensea", name)(body)]).toEqual([name, []]);
    });

    it("hand out fulfilment data in the recorded form", async () => {
      const [recorded] = readRecorded("fulfillment_data") as [{ body: unknown }];
      const { orderHash: hash } = await aliceSells();
      const asked = { url: partner.url, chain: "ethereum", orderHash: hash, buyer: bob.address };

      const { body } = await proposeFill(asked);

      expect(shapeOf(body)).toMatchObject(shapeOf(recorded.body) as object);
    });

    it("show listings in the recorded older form, as far as they go", async () => {
      const [recorded] = readRecorded("orders_listings_xtransact") as [{ body: unknown }];
      await aliceSells();

      const { body } = await get("/api/v2/orders/ethereum/seaport/listings");

      const counterless = JSON.stringify(body.orders[0]).replace(/"counter":0/, '"counter":"0x0"');
      const [theirs] = (shapeOf(recorded.body) as { orders: object[] }).orders;
      expect(theirs).toMatchObject(shapeOf(JSON.parse(counterless)) as object);
    });
  });
}

/** Names and types, of lists the first entry's. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}
