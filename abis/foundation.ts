import { type Address, parseAbi } from "viem";

export const foundationMarket: Address = "0xcda72070e455bb31c7690a170224ce43623d0b6f";

export const foundationEvents = parseAbi([
  "event BuyPriceAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev)",
  "event OfferAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed buyer, address seller, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev)",
  "event PrivateSaleFinalized(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev, uint256 deadline)",
  "event ReserveAuctionFinalized(uint256 indexed auctionId, address indexed seller, address indexed bidder, uint256 protocolFee, uint256 creatorFee, uint256 sellerRev)",
  "event BuyPriceCanceled(address indexed nftContract, uint256 indexed tokenId)",
  "event ReserveAuctionCanceled(uint256 indexed auctionId)",
]);
