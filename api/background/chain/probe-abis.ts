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

/** Collections with a transfer validator (ERC-721-C, ERC-1155-C), and the validator. */
export const creatorTokenAbi = parseAbi([
  "function getTransferValidator() view returns (address validator)",
]);
export const transferValidatorAbi = parseAbi([
  "function validateTransfer(address caller, address from, address to, uint256 tokenId) view",
  "function validateTransfer(address caller, address from, address to, uint256 tokenId, uint256 amount) view",
]);
