import { contracts } from "#devnet/contracts/addresses.ts";

/** On the first day each of the seven accounts has six punks, in order, alice 1 to 6, bob 7 to 12, and sixty units of each edition. */
export const punk = (tokenId: bigint) =>
  ({ standard: "erc721", contract: contracts.punks, tokenId }) as const;
export const edition = (tokenId: bigint) =>
  ({ standard: "erc1155", contract: contracts.editions, tokenId }) as const;
