import type { Address } from "viem";

/** Whose logs tell of transfers of ether (EIP-7708), in the form of an ERC-20's. They are of no coin. */
export const nativeTransferLogs: Address = "0xfffffffffffffffffffffffffffffffffffffffe";

/** A transfer of an NFT or of a coin in a transaction, as its log says. A batch is one for each of its entries. */
export type TokenTransfer = {
  readonly logIndex: number;
  readonly standard: "erc721" | "erc1155" | "erc20";
  readonly contract: Address;
  readonly from: Address;
  readonly to: Address;
  /** Decimal; null: a coin's. */
  readonly tokenId: string | null;
  /** Units or wei, decimal. */
  readonly amount: string;
};
