import { Alchemy, type NftSale, NftSaleMarketplace, SortingOrder } from "alchemy-sdk";
import { type Address, erc721Abi } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";

let market: ServedMarket;
let alchemy: Alchemy;
beforeAll(async () => {
  market = await openServedMarket();
  alchemy = at(market.key);
});
afterAll(() => market?.close());

/** The client as it is published; the address alone is ours. */
const at = (key: string) =>
  new Alchemy({ url: `${market.v1.url}/eth-mainnet/nft/v3/${key}`, maxRetries: 1 });

const { punks, editions } = contracts;
const [alice, bob, carol] = [accounts.alice, accounts.bob, accounts.carol].map(({ address }) =>
  address.toLowerCase(),
);

const V1Sale = z.looseObject({
  txHash: z.string(),
  logIndex: z.number(),
  tokenId: z.string(),
  buyer: z.string(),
  seller: z.string(),
  totalWei: z.string(),
  blockNumber: z.number(),
});

async function v1<Data>(path: string, data: z.ZodType<Data>): Promise<Data> {
  const { body } = await market.v1.get(path);
  return data.parse(z.object({ data: z.unknown() }).parse(body).data);
}

const nameOf = ({ transactionHash, logIndex }: NftSale) => `${transactionHash} ${logIndex}`;

describe("sales", () => {
  it("are those of /v1, with what each side paid", async () => {
    const sales = await v1("/v1/sales?chainId=1", z.array(V1Sale));
    const { nftSales, validAt } = await alchemy.nft.getNftSales();
    expect(sales.length).toBeGreaterThan(1);
    expect(
      nftSales.map((one) => [nameOf(one), one.tokenId, one.buyerAddress, one.sellerAddress]),
    ).toEqual(
      sales.map((one) => [`${one.txHash} ${one.logIndex}`, one.tokenId, one.buyer, one.seller]),
    );
    const paid = ({ sellerFee, protocolFee, royaltyFee }: NftSale) =>
      [sellerFee, protocolFee, royaltyFee].reduce((sum, one) => sum + BigInt(one.amount ?? 0), 0n);
    expect(nftSales.map(paid)).toEqual(sales.map(({ totalWei }) => BigInt(totalWei)));
    expect(validAt.blockNumber).toBeGreaterThanOrEqual(sales[0]?.blockNumber ?? 0);
  });

  it("say who took the order, and on which exchange", async () => {
    const [accepted, bought] = (await alchemy.nft.getNftSales({ contractAddress: punks })).nftSales;
    expect([accepted?.taker, accepted?.sellerAddress, accepted?.buyerAddress]).toEqual([
      "seller",
      bob,
      carol,
    ]);
    expect([bought?.taker, bought?.sellerAddress, bought?.buyerAddress]).toEqual([
      "buyer",
      alice,
      bob,
    ]);
    expect(bought?.marketplace).toBe(NftSaleMarketplace.SEAPORT);
    expect([bought?.sellerFee.symbol, accepted?.sellerFee.symbol]).toEqual(["ETH", "WETH"]);
  });

  it("since a block, in the order of the chain, page by page", async () => {
    const all = (await alchemy.nft.getNftSales({ order: SortingOrder.ASCENDING })).nftSales;
    const second = all[1];
    if (second === undefined) throw new Error("two sales are needed");
    const followed: string[] = [];
    let pageKey: string | undefined;
    do {
      const page = await alchemy.nft.getNftSales({
        ...{ fromBlock: second.blockNumber, order: SortingOrder.ASCENDING, limit: 1 },
        ...(pageKey !== undefined && { pageKey }),
      });
      followed.push(...page.nftSales.map(nameOf));
      pageKey = page.pageKey;
    } while (pageKey !== undefined);
    const since = all.filter(({ blockNumber }) => blockNumber >= second.blockNumber);
    expect(followed).toEqual(since.map(nameOf));
    const before = await alchemy.nft.getNftSales({ toBlock: second.blockNumber - 1 });
    expect(before.nftSales.map(nameOf).toReversed()).toEqual(
      all.filter(({ blockNumber }) => blockNumber < second.blockNumber).map(nameOf),
    );
  });

  it("by buyer, seller, taker and token", async () => {
    const named = async (filter: object) =>
      (await alchemy.nft.getNftSales(filter)).nftSales.map(({ tokenId, buyerAddress }) => [
        tokenId,
        buyerAddress,
      ]);
    expect(await named({ buyerAddress: carol })).toEqual([["1", carol]]);
    expect(await named({ sellerAddress: alice })).toEqual([["1", bob]]);
    expect(await named({ contractAddress: punks, tokenId: 2 })).toEqual([]);
    expect(await named({ marketplace: NftSaleMarketplace.BLUR })).toEqual([]);
  });
});

describe("owners", () => {
  const ownerOf = async (tokenId: bigint): Promise<Address> => {
    const owner = await market.book.client.readContract({
      ...{ address: punks, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] },
    });
    return owner.toLowerCase() as Address;
  };

  it("of a token are whom its contract names", async () => {
    for (const tokenId of [1n, 2n, 7n]) {
      const { owners } = await alchemy.nft.getOwnersForNft(punks, tokenId);
      expect(owners).toEqual([await ownerOf(tokenId)]);
    }
  });

  it("of a contract hold together what its contract says", async () => {
    const { owners } = await alchemy.nft.getOwnersForContract(punks, { withTokenBalances: true });
    const told = owners.flatMap(({ ownerAddress, tokenBalances }) =>
      tokenBalances.map(
        ({ tokenId, balance }) => [BigInt(tokenId), ownerAddress, balance] as const,
      ),
    );
    expect(told.length).toBeGreaterThan(5);
    for (const [tokenId, owner, balance] of told)
      expect([owner, Number(balance)]).toEqual([await ownerOf(tokenId), 1]);
    const bare = await alchemy.nft.getOwnersForContract(punks);
    expect(bare.owners).toEqual(owners.map(({ ownerAddress }) => ownerAddress));
  });

  it("have tokens of contracts, with what their metadata says", async () => {
    const { ownedNfts, totalCount } = await alchemy.nft.getNftsForOwner(carol ?? "");
    expect(ownedNfts.map(({ contract, tokenId }) => [contract.address, tokenId])).toContainEqual([
      punks,
      "1",
    ]);
    expect(totalCount).toBe(ownedNfts.length);
    const punk = ownedNfts.find(
      ({ contract, tokenId }) => contract.address === punks && tokenId === "1",
    );
    expect(punk?.name).toBe("Punk 1");
    expect(punk?.raw.metadata.attributes).toContainEqual({ trait_type: "Level", value: 1 });
    const bare = await alchemy.nft.getNftsForOwner(carol ?? "", {
      ...{ contractAddresses: [punks, editions], omitMetadata: true, pageSize: 1 },
    });
    expect(bare.ownedNfts).toHaveLength(1);
    const { contracts: held } = await alchemy.nft.getContractsForOwner(carol ?? "");
    expect(held.map(({ address }) => address)).toContain(punks);
    expect(await alchemy.nft.verifyNftOwnership(carol ?? "", [punks, editions])).toMatchObject({
      [punks]: true,
    });
  });

  it("are holders of a contract, or not", async () => {
    const answer = async (wallet: string | undefined) =>
      (
        await fetch(
          `${market.v1.url}/eth-mainnet/nft/v3/demo/isHolderOfContract?wallet=${wallet}&contractAddress=${punks}`,
        )
      ).json();
    expect(await answer(carol)).toEqual({ isHolderOfContract: true });
    expect(await answer(accounts.feeRecipient)).toEqual({ isHolderOfContract: false });
  });
});

describe("tokens and contracts", () => {
  it("have metadata, one by one, in batches and in lists", async () => {
    const one = await alchemy.nft.getNftMetadata(punks, 2);
    expect([one.name, one.tokenType, one.contract.name, one.image.originalUrl]).toEqual([
      "Punk 2",
      "ERC721",
      "Punks",
      "ipfs://punks/2.png",
    ]);
    const named = [
      { contractAddress: punks, tokenId: "2" },
      { contractAddress: editions, tokenId: "1" },
    ];
    const { nfts } = await alchemy.nft.getNftMetadataBatch(named);
    expect(nfts.map(({ tokenId, tokenType }) => [tokenId, tokenType])).toEqual([
      ["2", "ERC721"],
      ["1", "ERC1155"],
    ]);
    const listed: string[] = [];
    for await (const nft of alchemy.nft.getNftsForContractIterator(punks)) listed.push(nft.tokenId);
    expect(listed).toEqual([...new Set(listed)].sort((a, b) => Number(a) - Number(b)));
    expect(listed).toContain("2");
  });

  it("have a floor by marketplace, the cheapest of all as /v1 has it", async () => {
    const floors = await alchemy.nft.getFloorPrice(punks);
    expect(floors).toMatchObject({
      openSea: { floorPrice: 2, priceCurrency: "ETH" },
      all: { floorPrice: 1, priceCurrency: "ETH" },
    });
    const contract = await alchemy.nft.getContractMetadata(punks);
    expect([contract.name, contract.openSeaMetadata.floorPrice]).toEqual(["Punks", 1]);
    const { contracts: both } = await alchemy.nft.getContractMetadataBatch([punks, editions]);
    expect(both.map(({ name }) => name)).toEqual(["Punks", "Editions"]);
    const { contracts: found } = await alchemy.nft.searchContractMetadata("punks");
    expect(found.map(({ address }) => address)).toEqual([punks]);
  });

  it("have traits, counted over all living tokens", async () => {
    const { summary, totalSupply } = await alchemy.nft.summarizeNftAttributes(punks);
    const traits = await v1(
      `/v1/collections/${punks}/traits?chainId=1`,
      z.looseObject({
        traitTypes: z.array(
          z.looseObject({
            type: z.string(),
            values: z.array(z.looseObject({ value: z.string(), count: z.number() })),
          }),
        ),
      }),
    );
    const fur = traits.traitTypes.find(({ type }) => type === "Fur");
    expect(summary.Fur).toEqual(
      Object.fromEntries(fur?.values.map(({ value, count }) => [value, count]) ?? []),
    );
    const { rarities } = await alchemy.nft.computeRarity(punks, 2);
    const brown = summary.Fur?.Brown ?? 0;
    expect(rarities).toContainEqual({
      ...{ traitType: "Fur", value: "Brown" },
      prevalence: expect.closeTo(brown / Number(totalSupply), 4),
    });
  });
});

describe("a call that cannot be answered", () => {
  it("is refused with its reason: the key, the contract, the block, the parameter", async () => {
    await expect(at("nobody").nft.getNftSales()).rejects.toThrow("401");
    const unknown = `0x${"12".repeat(20)}`;
    await expect(alchemy.nft.getContractMetadata(unknown)).rejects.toThrow("404");
    await expect(alchemy.nft.getNftSales({ fromBlock: "yesterday" as never })).rejects.toThrow(
      "must be a block number",
    );
    const answer = await fetch(`${market.v1.url}/eth-mainnet/nft/v3/demo/getNFTSales?frmBlock=1`);
    expect([answer.status, await answer.text()]).toEqual([
      422,
      expect.stringContaining("did you mean fromBlock"),
    ]);
  });
});
