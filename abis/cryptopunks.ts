import { type Address, parseAbi } from "viem";

export const cryptopunksAddress: Address = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";

/**
 * A collection with a market of its own, older than ERC-721. Its `Transfer` counts punks and does not name them: it is
 * read from receipts alone.
 */
export const cryptopunksEvents = parseAbi([
  "event Assign(address indexed to, uint256 punkIndex)",
  "event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex)",
  "event PunkOffered(uint256 indexed punkIndex, uint256 minValue, address indexed toAddress)",
  "event PunkBidEntered(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)",
  "event PunkBidWithdrawn(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)",
  "event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress)",
  "event PunkNoLongerForSale(uint256 indexed punkIndex)",
]);
