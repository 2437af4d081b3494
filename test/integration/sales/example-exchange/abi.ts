import { parseAbi } from "viem";

/** In a project this is a file of `abis/`. */
export const bazaarEvents = parseAbi([
  "event Sold(address indexed seller, address indexed buyer, address collection, uint256 tokenId, uint256 price, uint256 fee)",
]);
