import { blurAddresses } from "../abis/blur.ts";
import { cryptopunksAddress } from "../abis/cryptopunks.ts";
import { seaportAddresses } from "../abis/deployments.ts";
import { foundationMarket } from "../abis/foundation.ts";
import { nftxFactories } from "../abis/nftx.ts";
import { paymentProcessorAddresses } from "../abis/payment-processor.ts";
import { sudoswapFactories } from "../abis/sudoswap.ts";
import type { Chain } from "./chain.ts";

/** Of Seaport 1.1. */
const firstExchangeBlock = 14_946_474;

const raribleV2 = {
  addresses: ["0x9757f2d2b135150bbeb65308d4a91804107cd8d6"],
  firstBlock: 12_500_000,
} as const;
const element = {
  addresses: ["0x20f780a973856b93f63670377900c1d2a50a77c4"],
  firstBlock: 14_700_000,
} as const;
const sudoswapV2Pools = { addresses: null, firstBlock: 17_300_000 } as const;
const nftxV3Factory = { addresses: [nftxFactories["3"]], firstBlock: 18_600_000 } as const;

export const ethereum = {
  id: 1,
  ordinal: 1,
  name: "Ethereum",
  coin: "ethereum",
  wrapped: { symbol: "WETH", address: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2" },
  explorer: "https://etherscan.io",
  finalityBlocks: 64,
  indexed: { collections: "curated", wrappedNativeEvents: "none" },
  hasConfiguredRoyalties: true,
  partnerNames: { opensea: "ethereum", magiceden: "ethereum" },
  alchemyName: "eth-mainnet",
  exchanges: {
    seaport: {
      Seaport: { addresses: [seaportAddresses["1.6"]], firstBlock: firstExchangeBlock },
      SeaportLegacy: {
        addresses: [seaportAddresses["1.1"], seaportAddresses["1.4"], seaportAddresses["1.5"]],
        firstBlock: firstExchangeBlock,
      },
    },
    blur: {
      Blur: { addresses: [blurAddresses.v1], firstBlock: 15_700_000 },
      BlurV2: { addresses: [blurAddresses.v2], firstBlock: 17_600_000 },
    },
    blend: { Blend: { addresses: [blurAddresses.blend], firstBlock: 17_150_000 } },
    paymentProcessor: {
      PaymentProcessorV1: { addresses: paymentProcessorAddresses["1"], firstBlock: 16_700_000 },
      PaymentProcessor: {
        addresses: [
          ...paymentProcessorAddresses["2"],
          ...paymentProcessorAddresses["2.1"],
          ...paymentProcessorAddresses["3"],
        ],
        firstBlock: 19_000_000,
      },
    },
    x2y2: {
      X2Y2: {
        addresses: ["0x74312363e45dcaba76c59ec49a7aa8a65a67eed3"],
        firstBlock: 14_130_000,
      },
    },
    looksrare: {
      LooksRareV1: {
        addresses: ["0x59728544b08ab483533076417fbbb2fd0b17ce3a"],
        firstBlock: 13_885_000,
      },
      LooksRareV2: {
        addresses: ["0x0000000000e655fae4d56241588680f86e3b2377"],
        firstBlock: 16_900_000,
      },
    },
    wyvern: {
      WyvernV1: {
        addresses: ["0x7be8076f4ea4a4ad08075c2508e481d6c946d12b"],
        firstBlock: 5_774_000,
      },
      WyvernV2: {
        addresses: ["0x7f268357a8c2552623316e2562d90e642bb538e5"],
        firstBlock: 14_100_000,
      },
    },
    foundation: { Foundation: { addresses: [foundationMarket], firstBlock: 11_600_000 } },
    archipelago: {
      Archipelago: {
        addresses: ["0x555598409fe9a72f0a5e423245c34555f6445555"],
        firstBlock: 14_500_000,
      },
    },
    zora: {
      ZoraAsks: {
        addresses: ["0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3"],
        firstBlock: 13_800_000,
      },
      ZoraAuctions: {
        addresses: ["0xe468ce99444174bd3bbbed09209577d25d1ad673"],
        firstBlock: 11_900_000,
      },
    },
    element: { Element: element, ElementFees: element },
    zeroex: {
      ZeroExNft: {
        addresses: ["0xdef1c0ded9bec7f1a1670819833240f027b25eff"],
        firstBlock: 13_900_000,
      },
    },
    rarible: {
      RaribleV1: {
        addresses: ["0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06"],
        firstBlock: 11_200_000,
      },
      RaribleAssets: raribleV2,
      RaribleV2: raribleV2,
    },
    cryptopunks: { CryptoPunks: { addresses: [cryptopunksAddress], firstBlock: 3_914_495 } },
    mintify: {
      Mintify: {
        addresses: ["0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc"],
        firstBlock: 19_400_000,
      },
    },
    alienswap: {
      Alienswap: {
        addresses: ["0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a"],
        firstBlock: 16_000_000,
      },
    },
    okx: {
      Okx: { addresses: ["0x90a77dd8ae0525e08b1c2930eb2eb650e78c6725"], firstBlock: 14_900_000 },
    },
    sudoswap: {
      SudoswapV1Factory: { addresses: [sudoswapFactories["1"]], firstBlock: 14_600_000 },
      SudoswapV1: { addresses: null, firstBlock: 14_600_000 },
      SudoswapV2Factory: { addresses: [sudoswapFactories["2"]], firstBlock: 17_300_000 },
      SudoswapV2: sudoswapV2Pools,
      SudoswapV2Erc1155: sudoswapV2Pools,
      SudoswapV2Royalty: sudoswapV2Pools,
      SudoswapV2Erc1155Royalty: sudoswapV2Pools,
    },
    nftx: {
      NftxV2Factory: { addresses: [nftxFactories["2"]], firstBlock: 12_600_000 },
      NftxV2: { addresses: null, firstBlock: 12_600_000 },
      NftxV3Factory: nftxV3Factory,
      NftxV3NamedFactory: nftxV3Factory,
      NftxV3: { addresses: null, firstBlock: 18_600_000 },
    },
  },
} as const satisfies Chain;
