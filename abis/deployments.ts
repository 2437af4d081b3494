import type { Address, Hex } from "viem";

/** Seaport's deployments, the same on every chain. Orders are made for 1.6; fills of the older ones are read. */
export const seaportAddresses = {
  "1.1": "0x00000000006c3852cbef3e08e8df289169ede581",
  "1.4": "0x00000000000001ad428e4906ae43d8f9852d0dd6",
  "1.5": "0x00000000000000adc04c56bf30ac9d3c0aaf14dc",
  "1.6": "0x0000000000000068f116a894984e2db1123eb395",
} as const satisfies Record<string, Address>;

/** Seaport's conduit controller, and the marketplaces' common conduit with its key. */
export const conduitController: Address = "0x00000000f9490004c11cef243f5400493c00ad63";
export const commonConduit: { key: Hex; address: Address } = {
  key: "0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000",
  address: "0x1e0049783f008a0085193e00003d00cd54003c71",
};

export const multicall3: Address = "0xca11bde05977b3631167028862be2a173976ca11";

/** The ENS registry, on chain 1. */
export const ensRegistry: Address = "0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e";
