import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  Alchemy,
  type AssetTransfersParams,
  type AssetTransfersResult,
  AssetTransfersCategory as Category,
  SortingOrder,
} from "alchemy-sdk";
import { type Address, erc721Abi, type Hex, parseAbiItem, toHex, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";

let market: ServedMarket;
let alchemy: Alchemy;
let moved: Moved[];
beforeAll(async () => {
  market = await openServedMarket();
  alchemy = new Alchemy({ url: nodeUrl(), maxRetries: 1 });
  moved = await readMoved();
});
afterAll(() => market?.close());

/** Where the client has a node. */
const nodeUrl = () => `${market.v1.url}/eth-mainnet/v2/${market.key}`;
/** Where it has the NFT API: the same client asks for both. */
const nftUrl = () => `${market.v1.url}/eth-mainnet/nft/v3/${market.key}`;

const { punks, editions } = contracts;
const [alice, bob, carol] = [accounts.alice, accounts.bob, accounts.carol].map(
  ({ address }) => address.toLowerCase() as Address,
) as [Address, Address, Address];

type Moved = {
  hash: Hex;
  logIndex: number;
  block: bigint;
  from: string;
  to: string;
  tokenId: bigint;
};

/** What the chain itself says of the punks. */
async function readMoved(): Promise<Moved[]> {
  const event = parseAbiItem(
    "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  );
  const logs = await market.book.client.getLogs({ address: punks, event, fromBlock: 0n });
  return logs.map(({ transactionHash, logIndex, blockNumber, args }) => ({
    ...{ hash: transactionHash, logIndex, block: blockNumber, tokenId: args.tokenId ?? -1n },
    ...{ from: args.from?.toLowerCase() ?? "", to: args.to?.toLowerCase() ?? "" },
  }));
}

const shapeOf = ({ hash, logIndex, block, from, to, tokenId }: Moved) => ({
  ...{ uniqueId: `${hash}:log:${logIndex}`, blockNum: toHex(block), hash, from, to },
  ...{ erc721TokenId: toHex(tokenId, { size: 32 }), category: "erc721" },
});
const told = ({
  uniqueId,
  blockNum,
  hash,
  from,
  to,
  erc721TokenId,
  category,
}: AssetTransfersResult) => ({
  ...{ uniqueId, blockNum, hash, from, to, erc721TokenId, category },
});

const ofPunks = { contractAddresses: [punks], category: [Category.ERC721] };

async function all(params: AssetTransfersParams): Promise<AssetTransfersResult[]> {
  const found: AssetTransfersResult[] = [];
  let pageKey: string | undefined;
  do {
    const page = await alchemy.core.getAssetTransfers({ ...params, ...(pageKey && { pageKey }) });
    found.push(...page.transfers);
    pageKey = page.pageKey;
  } while (pageKey !== undefined);
  return found;
}

describe("transfers", () => {
  it("are those that the chain has, first to last and last to first, page by page", async () => {
    const { transfers, pageKey } = await alchemy.core.getAssetTransfers({ ...ofPunks });
    expect(moved.length).toBeGreaterThan(20);
    expect(transfers.map(told)).toEqual(moved.map(shapeOf));
    expect(pageKey).toBeUndefined();
    expect((await all({ ...ofPunks, maxCount: 7 })).map(told)).toEqual(moved.map(shapeOf));
    const descending = { ...ofPunks, order: SortingOrder.DESCENDING, maxCount: 5 };
    expect((await all(descending)).map(told)).toEqual(moved.map(shapeOf).toReversed());
  });

  it("are found by who gave and who got, and between blocks", async () => {
    const found = async (params: Partial<AssetTransfersParams>) =>
      (await all({ ...ofPunks, maxCount: 3, ...params })).map(told);
    const those = (is: (one: Moved) => boolean) => moved.filter(is).map(shapeOf);
    expect(await found({ fromAddress: bob })).toEqual(those(({ from }) => from === bob));
    expect(await found({ toAddress: carol })).toEqual(those(({ to }) => to === carol));
    expect(await found({ fromAddress: alice, toAddress: bob })).toEqual(
      those(({ from, to }) => from === alice && to === bob),
    );
    expect(await found({ fromAddress: zeroAddress })).toEqual(
      those(({ from }) => from === zeroAddress),
    );
    const middle = moved[Math.floor(moved.length / 2)]?.block ?? 0n;
    expect(await found({ fromBlock: toHex(middle) })).toEqual(
      those(({ block }) => block >= middle),
    );
    expect(await found({ toBlock: toHex(middle) })).toEqual(those(({ block }) => block <= middle));
  });

  it("of ERC-1155 say their units, and of a chain all that is indexed", async () => {
    const params = { category: [Category.ERC1155], contractAddresses: [editions] };
    const [first] = await all(params);
    expect(first).toMatchObject({
      ...{ category: "erc1155", erc721TokenId: null, rawContract: { address: editions } },
      erc1155Metadata: [
        { tokenId: expect.stringMatching(/^0x/), value: expect.stringMatching(/^0x/) },
      ],
    });
    const everything = await all({ category: [Category.ERC721, Category.ERC1155], maxCount: 50 });
    const places = everything.map(({ uniqueId }) => uniqueId);
    expect(new Set(places).size).toBe(places.length);
    expect(everything.filter(({ rawContract }) => rawContract.address === punks).map(told)).toEqual(
      moved.map(shapeOf),
    );
  });

  it("have their block's time where it is asked for", async () => {
    const asked = { ...ofPunks, maxCount: 1, withMetadata: true } as const;
    const { transfers } = await alchemy.core.getAssetTransfers(asked);
    const block = await market.book.client.getBlock({ blockNumber: moved[0]?.block ?? 0n });
    expect(transfers[0]?.metadata.blockTimestamp).toBe(
      new Date(Number(block.timestamp) * 1_000).toISOString(),
    );
  });

  it("come by the NFT namespace, too, from its one address", async () => {
    const both = new Alchemy({ url: nftUrl(), maxRetries: 1 });
    const { nfts } = await both.nft.getMintedNfts(alice, { contractAddresses: [punks] });
    const minted = moved.filter(({ from, to }) => from === zeroAddress && to === alice);
    expect(nfts.map(({ tokenId }) => BigInt(tokenId))).toEqual(
      minted.map(({ tokenId }) => tokenId),
    );
  });

  it("of other kinds are refused in words, as are other methods", async () => {
    const coins = { category: [Category.ERC20, Category.EXTERNAL] };
    await expect(alchemy.core.getAssetTransfers(coins)).rejects.toThrow(
      "category: erc20, external are not indexed",
    );
    const foreign = { ...ofPunks, pageKey: "nothing" };
    await expect(alchemy.core.getAssetTransfers(foreign)).rejects.toThrow("pageKey");
    await expect(alchemy.core.getBlockNumber()).rejects.toThrow("eth_blockNumber is not answered");
  });
});

describe("programs of others, with another address alone", () => {
  const run = async (name: string, ...asked: string[]) => {
    const program = join(import.meta.dirname, "bots", `${name}.ts`);
    const env = { ...process.env, ALCHEMY_URL: nftUrl() };
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...asked], { env });
    return stdout.trim().split("\n");
  };

  it("tell sales since a block", async () => {
    const lines = await run("sales-bot", punks);
    expect(lines).toEqual([
      `Punk 1 sold for 1.0 ETH on seaport: ${alice} → ${bob}`,
      `Punk 1 sold for 2.0 WETH on seaport: ${bob} → ${carol}`,
      expect.stringMatching(/^next block \d+$/),
    ]);
    const next = lines.at(-1)?.split(" ").at(-1) ?? "";
    expect(await run("sales-bot", punks, next)).toEqual([`next block ${next}`]);
  });

  it("count holders, now and at a block, as the contract does", async () => {
    const countAt = async (blockNumber: bigint) => {
      const ids = [...new Set(moved.map(({ tokenId }) => tokenId))];
      const owners = await Promise.all(
        ids.map((tokenId) =>
          market.book.client
            .readContract({
              ...{ address: punks, abi: erc721Abi, functionName: "ownerOf", args: [tokenId] },
              blockNumber,
            })
            .catch(() => undefined),
        ),
      );
      const held = new Map<string, number>();
      for (const owner of owners)
        if (owner !== undefined)
          held.set(owner.toLowerCase(), (held.get(owner.toLowerCase()) ?? 0) + 1);
      return [...held].map(([owner, count]) => `${owner},${count}`).toSorted();
    };
    const head = await market.book.client.getBlockNumber();
    expect((await run("holders-snapshot", punks)).toSorted()).toEqual(await countAt(head));
    const middle = moved[Math.floor(moved.length / 2)]?.block ?? 0n;
    expect((await run("holders-snapshot", punks, toHex(middle))).toSorted()).toEqual(
      await countAt(middle),
    );
  });
});
