import { parseAbi } from "viem";

/** ERC-721, with ERC-2309's `ConsecutiveTransfer`. */
export const erc721Abi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  "event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress)",
  "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
  "function ownerOf(uint256 tokenId) view returns (address)",
  "function balanceOf(address owner) view returns (uint256)",
  "function tokenURI(uint256 tokenId) view returns (string)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function isApprovedForAll(address owner, address operator) view returns (bool)",
  "function approve(address to, uint256 tokenId)",
  "function getApproved(uint256 tokenId) view returns (address)",
  "function setApprovalForAll(address operator, bool approved)",
  "function transferFrom(address from, address to, uint256 tokenId)",
]);

/** Transfers of tokens older than ERC-721, with its topic: the id is not indexed, as an ERC-20's amount; or nothing is. */
export const plainTransferAbi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 tokenId)",
]);
export const unindexedTransferAbi = parseAbi([
  "event Transfer(address from, address to, uint256 tokenId)",
]);

export const erc1155Abi = parseAbi([
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
  "function balanceOf(address account, uint256 id) view returns (uint256)",
  "function uri(uint256 id) view returns (string)",
  "function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)",
  "function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)",
]);

export const erc20Abi = parseAbi([
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function balanceOf(address account) view returns (uint256)",
]);

/** WETH9's surface, which WETH and WAPE share. */
export const wrappedNativeAbi = parseAbi([
  "event Transfer(address indexed src, address indexed dst, uint256 wad)",
  "event Deposit(address indexed dst, uint256 wad)",
  "event Withdrawal(address indexed src, uint256 wad)",
  "function deposit() payable",
  "function withdraw(uint256 wad)",
  "function transfer(address dst, uint256 wad) returns (bool)",
]);
