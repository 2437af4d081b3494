import { parseAbi } from "viem";

/** ERC-165 and ERC-2981. */
export const inquiryAbi = parseAbi([
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function royaltyInfo(uint256 tokenId, uint256 salePrice) view returns (address receiver, uint256 royaltyAmount)",
]);

/** What an ERC-1155 contract calls of a recipient that is a contract. */
export const erc1155ReceiverAbi = parseAbi([
  "function onERC1155Received(address operator, address from, uint256 id, uint256 value, bytes data) returns (bytes4)",
]);
