import { parseAbi } from "viem";

/** `item.data` encodes the tokens by `delegateType`; fees are parts of a million of `detail.price`. */
export const x2y2Events = parseAbi([
  "struct Item { uint256 price; bytes data; }",
  "struct Fee { uint256 percentage; address to; }",
  "struct Detail { uint8 op; uint256 orderIdx; uint256 itemIdx; uint256 price; bytes32 itemHash; address executionDelegate; bytes dataReplacement; uint256 bidIncentivePct; uint256 aucMinIncrementPct; uint256 aucIncDurationSecs; Fee[] fees; }",
  "event EvInventory(bytes32 indexed itemHash, address maker, address taker, uint256 orderSalt, uint256 settleSalt, uint256 intent, uint256 delegateType, uint256 deadline, address currency, bytes dataMask, Item item, Detail detail)",
  "event EvCancel(bytes32 indexed itemHash)",
]);
