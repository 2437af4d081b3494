/**
 * What bots that tell sales of a collection do, as their pages describe it: ask for the sales since the last block that
 * they have seen, add up what was paid, look up the token's name, and post a line for each. Here the line goes to stdout.
 */
import { Alchemy, type NftSale, SortingOrder } from "alchemy-sdk";
import { formatEther } from "ethers";

const [contractAddress = "", fromBlock = "0"] = process.argv.slice(2);
const { ALCHEMY_URL: url = "" } = process.env;
const alchemy = new Alchemy({ url });

const paid = ({ sellerFee, royaltyFee, protocolFee }: NftSale) =>
  [sellerFee, royaltyFee, protocolFee].reduce((sum, fee) => sum + BigInt(fee.amount ?? 0), 0n);

let pageKey: string | undefined;
let lastBlock = Number(fromBlock) - 1;
do {
  const page = await alchemy.nft.getNftSales({
    ...{ contractAddress, fromBlock: Number(fromBlock), order: SortingOrder.ASCENDING, limit: 100 },
    ...(pageKey !== undefined && { pageKey }),
  });
  for (const sale of page.nftSales) {
    const { name } = await alchemy.nft.getNftMetadata(sale.contractAddress, sale.tokenId);
    const price = `${formatEther(paid(sale))} ${sale.sellerFee.symbol}`;
    process.stdout.write(
      `${name ?? `#${sale.tokenId}`} sold for ${price} on ${sale.marketplace}: ${sale.sellerAddress} → ${sale.buyerAddress}\n`,
    );
    lastBlock = Math.max(lastBlock, sale.blockNumber);
  }
  pageKey = page.pageKey;
} while (pageKey !== undefined);
process.stdout.write(`next block ${lastBlock + 1}\n`);
