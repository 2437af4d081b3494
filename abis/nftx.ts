import { type Address, parseAbi } from "viem";

/** Factories of Ethereum, by version. */
export const nftxFactories = {
  "2": "0xbe86f647b167567525ccaafcd6f881f1ee558216",
  "3": "0xc255335bc5abd6928063f5788a5e420554858f01",
} as const satisfies Record<string, Address>;

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
