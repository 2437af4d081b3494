import { parseAbi } from "viem";

export const looksrareV1Events = parseAbi([
  "event TakerAsk(bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price)",
  "event TakerBid(bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price)",
  "event RoyaltyPayment(address indexed collection, uint256 indexed tokenId, address indexed royaltyRecipient, address currency, uint256 amount)",
  "event CancelAllOrders(address indexed user, uint256 newMinNonce)",
  "event CancelMultipleOrders(address indexed user, uint256[] orderNonces)",
]);

export const looksrareV2Events = parseAbi([
  "struct Nonce { bytes32 orderHash; uint256 orderNonce; bool isNonceInvalidated; }",
  "event TakerAsk(Nonce nonceInvalidationParameters, address askUser, address bidUser, uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)",
  "event TakerBid(Nonce nonceInvalidationParameters, address bidUser, address bidRecipient, uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)",
  "event NewBidAskNonces(address user, uint256 bidNonce, uint256 askNonce)",
  "event OrderNoncesCancelled(address user, uint256[] orderNonces)",
  "event SubsetNoncesCancelled(address user, uint256[] subsetNonces)",
]);
