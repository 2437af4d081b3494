import { parseAbi } from "viem";

/** Events by which contracts say that metadata changed. The names of the arguments are those of the fact's columns. */
export const metadataAbi = parseAbi([
  // ERC-4906
  "event MetadataUpdate(uint256 tokenId)",
  "event BatchMetadataUpdate(uint256 fromTokenId, uint256 toTokenId)",
  // ERC-1155
  "event URI(string uri, uint256 indexed id)",
  // ERC-7572
  "event ContractURIUpdated()",
  // ERC-7496
  "event TraitUpdated(bytes32 indexed traitKey, uint256 tokenId, bytes32 traitValue)",
  "event TraitUpdatedRange(bytes32 indexed traitKey, uint256 fromTokenId, uint256 toTokenId)",
  "event TraitUpdatedRangeUniformValue(bytes32 indexed traitKey, uint256 fromTokenId, uint256 toTokenId, bytes32 traitValue)",
  "event TraitUpdatedList(bytes32 indexed traitKey, uint256[] tokenIds)",
  "event TraitUpdatedListUniformValue(bytes32 indexed traitKey, uint256[] tokenIds, bytes32 traitValue)",
  "event TraitMetadataURIUpdated()",
]);

/** The same of ERC-4906 with ids as topics, as some contracts emit them. */
export const indexedMetadataAbi = parseAbi([
  "event MetadataUpdate(uint256 indexed tokenId)",
  "event BatchMetadataUpdate(uint256 indexed fromTokenId, uint256 indexed toTokenId)",
]);
