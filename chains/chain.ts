import type { Address } from "viem";
import type { Coin } from "./coins.ts";

/** Contracts of an exchange on a chain, `null` being any, and the block from which on they are indexed. */
export type Deployment = {
  readonly addresses: readonly Address[] | null;
  readonly firstBlock: number;
};

/** What is indexed of each exchange: the names are stored with each event and permanent. */
export type ExchangeSources = {
  seaport: "Seaport" | "SeaportLegacy";
  blur: "Blur" | "BlurV2";
  blend: "Blend";
  paymentProcessor: "PaymentProcessorV1" | "PaymentProcessor";
  x2y2: "X2Y2";
  looksrare: "LooksRareV1" | "LooksRareV2";
  wyvern: "WyvernV1" | "WyvernV2";
  foundation: "Foundation";
  archipelago: "Archipelago";
  zora: "ZoraAsks" | "ZoraAuctions";
  element: "Element" | "ElementFees";
  zeroex: "ZeroExNft";
  rarible: "RaribleV1" | "RaribleAssets" | "RaribleV2";
  cryptopunks: "CryptoPunks";
  mintify: "Mintify";
  alienswap: "Alienswap";
  okx: "Okx";
  sudoswap:
    | "SudoswapV1Factory"
    | "SudoswapV1"
    | "SudoswapV2Factory"
    | "SudoswapV2"
    | "SudoswapV2Erc1155"
    | "SudoswapV2Royalty"
    | "SudoswapV2Erc1155Royalty";
  nftx: "NftxV2Factory" | "NftxV2" | "NftxV3Factory" | "NftxV3NamedFactory" | "NftxV3";
};

/** Everything that differs between chains. What has no default must be answered: `null` says that it is not there. */
export type Chain = {
  /** EIP-155. Below 2³¹, as columns of chain ids are. */
  readonly id: number;
  /**
   * The chain's number in ids of blocks (`projections/log/blocks.ts`), below 2¹⁹, and permanent: every database stores it
   * in its ids. A further chain takes the lowest number that no chain ever had. ApeChain has its id, as ids of blocks were
   * made of chain ids when it was added.
   */
  readonly ordinal: number;
  readonly name: string;
  /** The native currency. */
  readonly coin: Coin;
  /** The wrapped form of the native currency, a WETH9: what bids are paid in. */
  readonly wrapped: { readonly symbol: string; readonly address: Address };
  /** Address of a block explorer with `/block/<number>`, `/tx/<hash>`, `/address/<address>` and `/token/<contract>?a=<id>`. */
  readonly explorer: string;
  /** Blocks after which a block is treated as final where the chain's nodes do not say so. */
  readonly finalityBlocks: number;
  /** Indexed unless the settings say otherwise. `curated`: collections of the curated file and of `COLLECTIONS_<id>`. */
  readonly indexed: {
    readonly collections: "all" | "curated";
    /** Transfers, deposits and withdrawals of the wrapped currency; `none` where they are too many. */
    readonly wrappedNativeEvents: "all" | "none";
  };
  /** Whether creator fees can be configured, for contracts without ERC-2981. */
  readonly hasConfiguredRoyalties: boolean;
  /** The chain's name at each partner marketplace; null: it does not know the chain. */
  readonly partnerNames: Readonly<Record<"opensea" | "magiceden", string | null>>;
  /** The chain's name in addresses of Alchemy's NFT API; null: it does not know the chain. */
  readonly alchemyName: string | null;
  /** Every exchange; null: it is not on this chain. Orders of this market are made for Seaport 1.6. */
  readonly exchanges: {
    readonly seaport: { readonly [Source in ExchangeSources["seaport"]]: Deployment };
  } & {
    readonly [Name in Exclude<keyof ExchangeSources, "seaport">]:
      | { readonly [Source in ExchangeSources[Name]]: Deployment | null }
      | null;
  };
};
