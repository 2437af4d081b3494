import { parseAbi } from "viem";

export const archipelagoEvents = parseAbi([
  "event Trade(bytes32 indexed tradeId, address indexed buyer, address indexed seller, uint256 price, uint256 proceeds, uint256 cost, address currency)",
  "event TokenTrade(bytes32 indexed tradeId, address indexed token, uint256 indexed tokenId)",
  "event RoyaltyPayment(bytes32 indexed tradeId, address indexed payer, address indexed recipient, uint256 micros, uint256 amount, address currency)",
]);
