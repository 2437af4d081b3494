import { parseAbi } from "viem";

/** Functions of the local collections beyond the token standards: anyone may mint, and ERC-2981. */
export const collectionAbi = parseAbi([
  "function mint(address to, uint256 id)",
  "function mintBatch(address to, uint256 fromId, uint256 count)",
  "function mintConsecutive(address to, uint96 count)",
  "function burn(uint256 id)",
  "function royaltyInfo(uint256 id, uint256 priceWei) view returns (address recipient, uint256 royaltyWei)",
]);

export const editionsAbi = parseAbi([
  "function mint(address to, uint256 id, uint256 units)",
  "function mintBatch(address to, uint256[] ids, uint256[] units)",
  "function burn(address owner, uint256 id, uint256 units)",
]);

export const smartWalletAbi = parseAbi([
  "function execute(address to, uint256 value, bytes data) returns (bytes)",
]);
