import { parseAbi } from "viem";

export const raribleV1Events = parseAbi([
  "event Buy(address indexed sellToken, uint256 indexed sellTokenId, uint256 sellValue, address owner, address buyToken, uint256 buyTokenId, uint256 buyValue, address buyer, uint256 amount, uint256 salt)",
]);

/** The second version at first: a `Transfer` for each payment and token, then `Match` with the parties and their assets. */
export const raribleAssetEvents = parseAbi([
  "struct AssetType { bytes4 assetClass; bytes data; }",
  "struct Asset { AssetType assetType; uint256 value; }",
  "event Transfer(Asset asset, address from, address to, bytes4 transferDirection, bytes4 transferType)",
  "event Match(bytes32 leftHash, bytes32 rightHash, address leftMaker, address rightMaker, uint256 newLeftFill, uint256 newRightFill, AssetType leftAsset, AssetType rightAsset)",
]);
/** The later one, which names neither. */
export const raribleV2Events = parseAbi([
  "event Match(bytes32 leftHash, bytes32 rightHash, uint256 newLeftFill, uint256 newRightFill)",
]);
