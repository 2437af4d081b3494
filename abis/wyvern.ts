import { parseAbi } from "viem";

/** Two contracts, of which the second counts nonces. */
export const wyvernEvents = parseAbi([
  "event OrdersMatched(bytes32 buyHash, bytes32 sellHash, address indexed maker, address indexed taker, uint256 price, bytes32 indexed metadata)",
  "event OrderCancelled(bytes32 indexed hash)",
  "event OrderApprovedPartOne(bytes32 indexed hash, address exchange, address indexed maker, address taker, uint256 makerRelayerFee, uint256 takerRelayerFee, uint256 makerProtocolFee, uint256 takerProtocolFee, address indexed feeRecipient, uint8 feeMethod, uint8 side, uint8 saleKind, address target)",
  "event OrderApprovedPartTwo(bytes32 indexed hash, uint8 howToCall, bytes callData, bytes replacementPattern, address staticTarget, bytes staticExtradata, address paymentToken, uint256 basePrice, uint256 extra, uint256 listingTime, uint256 expirationTime, uint256 salt, bool orderbookInclusionDesired)",
  "event NonceIncremented(address indexed maker, uint256 newNonce)",
]);
