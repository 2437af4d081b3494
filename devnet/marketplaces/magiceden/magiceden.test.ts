import { encodeFunctionData, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { installContracts } from "#devnet/install.ts";
import { type Actors, createActors } from "#devnet/market/actors.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import { advancedOrder } from "#projections/domain/seaport/fill.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { hasPublished, publishedSchema } from "../published-documents.fixture.ts";
import type { StandIn } from "../stand-in.ts";
import { openPartnerB } from "./magiceden.ts";

const { alice, bob } = accounts;
const chainId = 33139;
let anvil: Anvil;
let client: DevnetClient;
let actors: Actors;
let partner: StandIn;
let nextTokenId = 1n;

beforeAll(async () => {
  anvil = await startAnvil({ chainId });
  client = connect(anvil);
  await installContracts(client);
  const market = {
    chainId,
    client,
    sending: sendAsMined(client),
    random: seededRandom(1),
  } as const;
  actors = createActors(market);
  partner = await openPartnerB({ chains: [anvil], apiKey: "open-sesame" });
});
afterAll(async () => {
  await partner.close();
  await anvil.stop();
});

type RawOrder = { rawData: { signature: `0x${string}` } & Record<string, unknown> };
type Body = {
  orders: ({ id: string; status: string; price: { currency: { contract: string } } } & RawOrder)[];
  asks: { id: string }[];
  continuation?: string | null;
};

async function get(path: string, key = "open-sesame"): Promise<{ status: number; body: Body }> {
  const response = await fetch(partner.url + path, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: (await response.json()) as Body };
}

async function aliceSells(currency: "native" | "wrapped" = "native") {
  const nft = { standard: "erc721", contract: contracts.punks, tokenId: nextTokenId++ } as const;
  await actors.alice.mints(nft);
  return partner.sell({ chainId, maker: alice, nft, priceWei: parseEther("1"), currency });
}

const asks = "/v3/rtp/apechain/orders/asks/v5";

/** The order in the raw data, as it was signed: the encoder takes decimal strings for integers. */
const componentsOf = ({ rawData: { signature: _, kind: __, ...components } }: RawOrder) =>
  components as unknown as OrderComponents;

describe("the second partner's listings", () => {
  it.each([
    ["native", zeroAddress],
    ["wrapped", wrappedNative[chainId]],
  ] as const)(
    "in %s currency are whole signed orders that anybody can fill",
    async (currency, contract) => {
      const shown = await aliceSells(currency);
      const { body } = await get(`${asks}?ids=${shown.orderHash}&includeRawData=true`);
      const [listed] = body.orders;
      if (listed === undefined) throw new Error("The listing is not shown");
      const components = componentsOf(listed);
      expect([listed.id, listed.price.currency.contract]).toEqual([
        orderHash(components),
        contract,
      ]);

      const value = currency === "native" ? parseEther("1") : 0n;
      if (currency === "wrapped") await payWith(parseEther("1"));
      const data = encodeFunctionData({
        abi: seaportFunctions,
        functionName: "fulfillAdvancedOrder",
        args: [
          advancedOrder({ components, signature: listed.rawData.signature }),
          [],
          `0x${"0".repeat(64)}`,
          bob.address,
        ],
      });
      await sendAsMined(client).send(bob, { to: seaportAddresses["1.6"], data, value });

      const owner = await client.readContract({
        ...{ address: contracts.punks, abi: erc721Abi },
        functionName: "ownerOf",
        args: [shown.tokenId],
      });
      expect(owner).toBe(bob.address);
      await partner.look();
      expect((await get(`${asks}?ids=${shown.orderHash}`)).body.orders[0]?.status).toBe("filled");
    },
  );

  it("give every listing once over their pages, by age, change and price", async () => {
    for (let count = 0; count < 5; count++) await aliceSells();
    const places = [
      `${asks}?limit=2&contracts=${contracts.punks}`,
      `${asks}?limit=2&sortBy=updatedAt&sortDirection=asc`,
      `${asks}?limit=2&sortBy=price`,
      `/v4/evm-public/orders/asks?chain=apechain&collectionId=${contracts.punks}&limit=2`,
    ];
    for (const place of places) {
      const hashes: string[] = [];
      let continuation: string | null | undefined;
      do {
        const next = continuation === undefined ? "" : `&continuation=${continuation}`;
        const { body } = await get(`${place}${next}`);
        hashes.push(...(body.orders ?? body.asks).map(({ id }) => id));
        continuation = body.continuation;
      } while (continuation);
      expect([place, hashes.length, new Set(hashes).size]).toEqual([place, 5, 5]);
    }
  });

  it("are inactive once withdrawn, and active again when restored", async () => {
    const { orderHash: hash } = await aliceSells();
    const statusNow = async () => (await get(`${asks}?ids=${hash}`)).body.orders[0]?.status;

    partner.withdraw(chainId, hash);
    expect(await statusNow()).toBe("inactive");
    expect((await get(`${asks}?limit=1`)).body.orders[0]?.id).not.toBe(hash);
    partner.restore(chainId, hash);

    expect(await statusNow()).toBe("active");
    expect((await get(`${asks}?limit=1&sortBy=updatedAt`)).body.orders[0]?.id).toBe(hash);
  });

  it("are for those who have a key", async () => {
    expect((await get(asks, "guessed")).status).toBe(401);
    expect((await get("/v3/rtp/solana/orders/asks/v5")).status).toBe(400);
    expect((await get("/v3/rtp/apechain/orders/bids/v6")).status).toBe(404);
  });

  if (hasPublished)
    it("are in its fourth version as its published document says", async () => {
      await aliceSells("wrapped");
      const path = `/v4/evm-public/orders/asks?chain=apechain&collectionId=${contracts.punks}`;

      const { body } = await get(path);

      expect(body.asks.length).toBeGreaterThan(0);
      expect(publishedSchema("magiceden", "getAsksResponse")(body)).toEqual([]);
    });
});

/** Bob wraps so much and lets the exchange take it. */
async function payWith(wei: bigint) {
  await actors.bob.wraps(wei);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [seaportAddresses["1.6"], wei],
  });
  await sendAsMined(client).send(bob, { to: wrappedNative[chainId], data });
}
