import { parseAbi } from "viem";

/** Events of the same names in two forms: without fees, and with them. */
export const elementEvents = parseAbi([
  "event ERC721SellOrderFilled(address maker, address taker, address erc20Token, uint256 erc20TokenAmount, address token, uint256 tokenId, bytes32 orderHash)",
  "event ERC721BuyOrderFilled(address maker, address taker, address erc20Token, uint256 erc20TokenAmount, address token, uint256 tokenId, bytes32 orderHash)",
  "event ERC1155SellOrderFilled(address maker, address taker, address erc20Token, uint256 erc20FillAmount, address token, uint256 tokenId, uint128 amount, bytes32 orderHash)",
  "event ERC1155BuyOrderFilled(address maker, address taker, address erc20Token, uint256 erc20FillAmount, address token, uint256 tokenId, uint128 amount, bytes32 orderHash)",
]);

export const elementFeeEvents = parseAbi([
  "struct Fee { address recipient; uint256 amount; }",
  "event ERC721SellOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, Fee[] fees, address token, uint256 tokenId)",
  "event ERC721BuyOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, Fee[] fees, address token, uint256 tokenId)",
  "event ERC1155SellOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, Fee[] fees, address token, uint256 tokenId, uint128 amount)",
  "event ERC1155BuyOrderFilled(bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, Fee[] fees, address token, uint256 tokenId, uint128 amount)",
]);
