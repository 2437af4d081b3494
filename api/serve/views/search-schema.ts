import { z } from "zod";
import { listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { orderStatuses } from "#projections/domain/orders/order-status.ts";
import { mediaUrl } from "./media.ts";
import { collectionUrls, tokenUrls } from "./urls.ts";
import { address, chainIdValue, hash, standardName, time, uint256Text } from "./wire.ts";

const verified = z.boolean().meta({
  description: "Of the collection: set by the operator. Names are not unique; addresses are.",
});

const FoundCollection = z
  .object({
    chainId: chainIdValue,
    address,
    slug: z.string(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    standard: standardName.nullable(),
    verified,
    sameNameAs: z
      .object({ chainId: chainIdValue, address, slug: z.string(), name: z.string().nullable() })
      .nullable()
      .meta({
        description:
          "A verified collection of the same name, or one that looks like it (letters of other scripts, digits for letters, marks), spacing, case and punctuation aside, when this one is not verified.",
      }),
    holders: z.int().min(0),
    sales: z.int().min(0).meta({ description: "Of all time." }),
    imageUrl: mediaUrl,
    urls: collectionUrls,
  })
  .meta({ id: "FoundCollection" });

const FoundToken = z
  .object({
    chainId: chainIdValue,
    contract: address,
    tokenId: uint256Text,
    name: z.string().nullable(),
    collection: z.object({
      address,
      slug: z.string().nullable(),
      name: z.string().nullable(),
      verified,
    }),
    imageUrl: mediaUrl,
    urls: tokenUrls,
  })
  .meta({ id: "FoundToken" });

const FoundWallet = z
  .object({
    address,
    ensName: z.string().nullable().meta({ description: "The name that was searched for." }),
    urls: z.object({ wallet: z.url() }),
  })
  .meta({ id: "FoundWallet" });

const FoundTransaction = z
  .object({
    chainId: chainIdValue,
    txHash: hash,
    blockNumber: z.int().min(0),
    timestamp: time,
    sales: z.int().min(0),
  })
  .meta({ id: "FoundTransaction" });

const FoundOrder = z
  .object({
    chainId: chainIdValue,
    side: z.enum(["listing", "bid"]),
    id: z.string().meta({ description: "`askId` of a listing, `bidId` of a bid." }),
    orderHash: hash,
    marketplace: z.enum(listingMarketplaces),
    maker: address,
    status: z.enum(orderStatuses),
    urls: z.object({ listing: z.url().optional(), bid: z.url().optional(), maker: z.url() }),
  })
  .meta({ id: "FoundOrder" });

const FoundSale = z
  .object({
    chainId: chainIdValue,
    saleId: hash,
    txHash: hash,
    timestamp: time,
    urls: z.object({ sale: z.url() }),
  })
  .meta({ id: "FoundSale" });

/** What a text may mean, by kind. */
export const SearchResult = z
  .object({
    collections: z.array(FoundCollection).meta({
      description: "Verified ones first, then exact names, then by sales and holders.",
    }),
    tokens: z.array(FoundToken),
    wallets: z.array(FoundWallet),
    transactions: z.array(FoundTransaction).meta({
      description: "With at least one event that is indexed here.",
    }),
    orders: z.array(FoundOrder),
    sales: z.array(FoundSale),
  })
  .meta({ id: "SearchResult" });
