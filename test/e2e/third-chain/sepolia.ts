import { seaportAddresses } from "#abis/deployments.ts";
import { paymentProcessorAddresses } from "#abis/payment-processor.ts";
import type { Chain } from "#chains/chain.ts";

/** Its id is larger than what ids of blocks have room for. */
export const sepolia = {
  id: 11_155_111,
  ordinal: 2,
  name: "Sepolia",
  coin: "ethereum",
  wrapped: { symbol: "WETH", address: "0xfff9976782d46cc05630d1f6ebab18b2324d6b14" },
  explorer: "https://sepolia.etherscan.io",
  finalityBlocks: 64,
  indexed: { collections: "all", wrappedNativeEvents: "none" },
  hasConfiguredRoyalties: false,
  partnerNames: { opensea: "sepolia", magiceden: null },
  alchemyName: "eth-sepolia",
  exchanges: {
    seaport: {
      Seaport: { addresses: [seaportAddresses["1.6"]], firstBlock: 0 },
      SeaportLegacy: {
        addresses: [seaportAddresses["1.1"], seaportAddresses["1.4"], seaportAddresses["1.5"]],
        firstBlock: 0,
      },
    },
    blur: null,
    blend: null,
    paymentProcessor: {
      PaymentProcessorV1: null,
      PaymentProcessor: { addresses: paymentProcessorAddresses["3"], firstBlock: 0 },
    },
    x2y2: null,
    looksrare: null,
    wyvern: null,
    foundation: null,
    archipelago: null,
    zora: null,
    element: null,
    zeroex: null,
    rarible: null,
    cryptopunks: null,
    mintify: null,
    alienswap: null,
    okx: null,
    sudoswap: null,
    nftx: null,
  },
} as const satisfies Chain;
