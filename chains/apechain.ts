import { seaportAddresses } from "../abis/deployments.ts";
import { paymentProcessorAddresses } from "../abis/payment-processor.ts";
import type { Chain } from "./chain.ts";

/** Younger than Seaport 1.6. */
export const apechain = {
  id: 33139,
  ordinal: 33139,
  name: "ApeChain",
  coin: "apecoin",
  wrapped: { symbol: "WAPE", address: "0x48b62137edfa95a428d35c09e44256a739f6b557" },
  explorer: "https://apescan.io",
  finalityBlocks: 240,
  indexed: { collections: "all", wrappedNativeEvents: "all" },
  hasConfiguredRoyalties: false,
  partnerNames: { opensea: "ape_chain", magiceden: "apechain" },
  alchemyName: "apechain-mainnet",
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
    mintify: {
      Mintify: { addresses: ["0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc"], firstBlock: 0 },
    },
    alienswap: null,
    okx: null,
    sudoswap: null,
    nftx: null,
  },
} as const satisfies Chain;
