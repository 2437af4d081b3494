import { parseAbi } from "viem";

export const zoraAsksEvents = parseAbi([
  "struct Ask { address seller; address sellerFundsRecipient; address askCurrency; uint16 findersFeeBps; uint256 askPrice; }",
  "event AskFilled(address indexed tokenContract, uint256 indexed tokenId, address indexed buyer, address finder, Ask ask)",
  "event AskCanceled(address indexed tokenContract, uint256 indexed tokenId, Ask ask)",
  "event RoyaltyPayout(address indexed tokenContract, uint256 indexed tokenId, address indexed recipient, uint256 amount)",
]);

export const zoraAuctionEvents = parseAbi([
  "event AuctionEnded(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address tokenOwner, address curator, address winner, uint256 amount, uint256 curatorFee, address auctionCurrency)",
  "event AuctionCanceled(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address tokenOwner)",
]);
