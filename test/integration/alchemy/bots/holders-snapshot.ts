/**
 * What programs for airdrops do, as their pages describe it: who holds how many tokens of a contract, as CSV; now by the
 * list of owners, or at a block by the transfers up to it.
 */
import { Alchemy, AssetTransfersCategory } from "alchemy-sdk";

const [contract = "", block] = process.argv.slice(2);
const { ALCHEMY_URL: url = "" } = process.env;
const alchemy = new Alchemy({ url });
const zero = `0x${"0".repeat(40)}`;

async function now(): Promise<Map<string, number>> {
  const held = new Map<string, number>();
  let pageKey: string | undefined;
  do {
    const page = await alchemy.nft.getOwnersForContract(contract, {
      ...{ withTokenBalances: true },
      ...(pageKey !== undefined && { pageKey }),
    });
    for (const { ownerAddress, tokenBalances } of page.owners)
      held.set(ownerAddress, (held.get(ownerAddress) ?? 0) + tokenBalances.length);
    pageKey = page.pageKey;
  } while (pageKey !== undefined);
  return held;
}

async function atBlock(toBlock: string): Promise<Map<string, number>> {
  const owners = new Map<string, string>();
  let pageKey: string | undefined;
  do {
    const page = await alchemy.core.getAssetTransfers({
      ...{ contractAddresses: [contract], category: [AssetTransfersCategory.ERC721] },
      ...{ toBlock, maxCount: 10, excludeZeroValue: false },
      ...(pageKey !== undefined && { pageKey }),
    });
    for (const { tokenId, to } of page.transfers) owners.set(tokenId ?? "", to ?? zero);
    pageKey = page.pageKey;
  } while (pageKey !== undefined);
  const held = new Map<string, number>();
  for (const owner of owners.values())
    if (owner !== zero) held.set(owner, (held.get(owner) ?? 0) + 1);
  return held;
}

const held = block === undefined ? await now() : await atBlock(block);
const rows = [...held].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
for (const [owner, count] of rows) process.stdout.write(`${owner},${count}\n`);
