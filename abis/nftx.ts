import { parseAbi } from "viem";

/** Vaults of both versions of the factory. */
export const nftxFactoryEvents = parseAbi([
  "event NewVault(uint256 indexed vaultId, address pool, address assetAddress)",
]);
export const nftxNamedVaultEvents = parseAbi([
  "event NewVault(uint256 indexed vaultId, address pool, address assetAddress, string name, string symbol)",
]);

/** Of vaults. Amounts may be empty, right, or hold token ids. */
export const nftxV2VaultEvents = parseAbi([
  "event Minted(uint256[] nftIds, uint256[] amounts, address to)",
  "event Redeemed(uint256[] nftIds, uint256[] specificIds, address to)",
]);
export const nftxV3VaultEvents = parseAbi([
  "event Minted(uint256[] nftIds, uint256[] amounts, address from, address to)",
  "event Redeemed(uint256[] nftIds, address to)",
]);
