import { type Address, parseAbi } from "viem";

/** Deployments of Limit Break's Payment Processor, by version. Version 3 is on both chains, the others on Ethereum. */
export const paymentProcessorAddresses = {
  "1": ["0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507"],
  "2": ["0x9a1d00bed7cd04bcda516d721a596eb22aac6834", "0x9a1d001670c8b17f8b7900e8d7a41e785b3f0515"],
  "2.1": ["0x9a1d00828912f81f3fa34ca47c0bdb9c016856bf"],
  "3": ["0x9a1d00000000fc540e2000560054812452eb5366"],
} as const satisfies Record<string, readonly Address[]>;

export const paymentProcessorV1Events = parseAbi([
  "event BuySingleListing(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, address seller, uint256 tokenId, uint256 amount, uint256 salePrice)",
  "event SweepCollectionERC721(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] salePrices)",
  "event SweepCollectionERC1155(address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)",
]);

/** Of versions 2, 2.1 and 3. */
export const paymentProcessorEvents = parseAbi([
  "event BuyListingERC721(address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 salePrice)",
  "event BuyListingERC1155(address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 amount, uint256 salePrice)",
  "event AcceptOfferERC721(address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 salePrice)",
  "event AcceptOfferERC1155(address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 amount, uint256 salePrice)",
  "event NonceInvalidated(uint256 indexed nonce, address indexed account, bool wasCancellation)",
  "event MasterNonceInvalidated(address indexed account, uint256 nonce)",
  "event OrderDigestInvalidated(bytes32 indexed orderDigest, address indexed account, bool wasCancellation)",
  "event NonceRestored(uint256 indexed nonce, address indexed account)",
  "event OrderDigestOpened(bytes32 indexed orderDigest, address indexed account, uint256 orderStartAmount)",
  "event OrderDigestItemsFilled(bytes32 indexed orderDigest, address indexed account, uint256 amountFilled)",
  "event OrderDigestItemsRestored(bytes32 indexed orderDigest, address indexed account, uint256 amountRestoredToOrder)",
]);
