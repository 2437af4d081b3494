import { type Address, parseAbi } from "viem";

/** Blur's exchanges, its lending protocol and its pool of ether on Ethereum. */
export const blurAddresses = {
  v1: "0x000000000000ad05ccc4f10045630fb830b95127",
  v2: "0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5",
  blend: "0x29469395eaf6f95920e59f858042f0e28d98a20b",
  pool: "0x0000000000a39bb272e79075ade125fd351887ac",
} as const satisfies Record<string, Address>;

export const blurV1Events = parseAbi([
  "struct Fee { uint16 rate; address recipient; }",
  "struct Order { address trader; uint8 side; address matchingPolicy; address collection; uint256 tokenId; uint256 amount; address paymentToken; uint256 price; uint256 listingTime; uint256 expirationTime; Fee[] fees; uint256 salt; bytes extraParams; }",
  "event OrdersMatched(address indexed maker, address indexed taker, Order sell, bytes32 sellHash, Order buy, bytes32 buyHash)",
  "event OrderCancelled(bytes32 hash)",
  "event NonceIncremented(address indexed trader, uint256 newNonce)",
]);

export const blurV2Events = parseAbi([
  "struct Transfer { address trader; uint256 id; uint256 amount; address collection; uint8 assetType; }",
  "struct FeeRate { address recipient; uint16 rate; }",
  "struct Fees { FeeRate protocolFee; FeeRate takerFee; }",
  "event Execution(Transfer transfer, bytes32 orderHash, uint256 listingIndex, uint256 price, FeeRate makerFee, Fees fees, uint8 orderType)",
  "event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide)",
  "event Execution721TakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 takerFeeRecipientRate)",
  "event Execution721MakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 makerFeeRecipientRate)",
]);

export const blendEvents = parseAbi([
  "event BuyLocked(uint256 lienId, address collection, address buyer, address seller, uint256 tokenId)",
]);
