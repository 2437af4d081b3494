import { parseAbi } from "viem";

export const zeroexNftEvents = parseAbi([
  "event ERC721OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, address matcher)",
  "event ERC1155OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, address matcher)",
  "event ERC721OrderCancelled(address maker, uint256 nonce)",
  "event ERC1155OrderCancelled(address maker, uint256 nonce)",
]);
