import { concatHex, domainSeparator, type Hex, hashStruct, keccak256 } from "viem";
import { seaport } from "../../../abis/deployments.ts";
import { type OrderComponents, orderTypes } from "./order-components.ts";

export type ExchangeVersion = keyof typeof seaport;

/** EIP-712 domain of an exchange deployment. */
export function exchangeDomain(chainId: number, version: ExchangeVersion = "1.6") {
  return { name: "Seaport", version, chainId, verifyingContract: seaport[version] } as const;
}

/** The order's identity, equal to the exchange's `getOrderHash`; chain and version are not part of it. */
export function orderHash(components: OrderComponents): Hex {
  return hashStruct({
    primaryType: "OrderComponents",
    types: orderTypes,
    data: { ...components },
  });
}

/** What is signed, given the struct hash of an order or of a bulk order. EIP-712. */
export function signingDigest(structHash: Hex, domain: ReturnType<typeof exchangeDomain>): Hex {
  return keccak256(concatHex(["0x1901", domainSeparator({ domain }), structHash]));
}
