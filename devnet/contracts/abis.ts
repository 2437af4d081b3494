import { parseAbi } from "viem";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";

/** Typed by hand for inference; a test holds them against the compiled contracts. */
export const collectionAbi = [
  ...erc721Abi,
  ...parseAbi([
    "function mint(address to, uint256 id)",
    "function mintBatch(address to, uint256 fromId, uint256 count)",
    "function burn(uint256 tokenId)",
    "function contractURI() view returns (string)",
    "function royaltyInfo(uint256 tokenId, uint256 salePrice) view returns (address, uint256)",
  ]),
] as const;

export const consecutiveCollectionAbi = [
  ...collectionAbi,
  ...parseAbi(["function mintConsecutive(address to, uint96 count)"]),
] as const;

export const guardedCollectionAbi = [
  ...collectionAbi,
  ...parseAbi([
    "event TransferValidatorUpdated(address oldValidator, address newValidator)",
    "function getTransferValidator() view returns (address)",
    "function setTransferValidator(address validator_)",
  ]),
] as const;

export const transferValidatorAbi = parseAbi([
  "error CreatorTokenTransferValidator__CallerMustBeWhitelisted()",
  "function setBlocked(address operator, bool blocked)",
  "function validateTransfer(address caller, address from, address to, uint256 tokenId) view",
]);

export const editionsAbi = [
  ...erc1155Abi,
  ...parseAbi([
    "function mint(address to, uint256 id, uint256 units)",
    "function mintBatch(address to, uint256[] ids, uint256[] units)",
    "function burn(address account, uint256 id, uint256 value)",
    "function contractURI() view returns (string)",
    "function royaltyInfo(uint256 tokenId, uint256 salePrice) view returns (address, uint256)",
    "function setApprovalForAll(address operator, bool approved)",
  ]),
] as const;

export const smartWalletAbi = parseAbi([
  "function execute(address to, uint256 value, bytes data) returns (bytes)",
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

export const signedZoneAbi = parseAbi([
  "error InvalidExtraData(string reason, bytes32 orderHash)",
  "error InvalidFulfiller(address expectedFulfiller, address actualFulfiller, bytes32 orderHash)",
  "error SignatureExpired(uint256 currentTimestamp, uint256 expiration, bytes32 orderHash)",
  "error SignerNotActive(address signer, bytes32 orderHash)",
  "function signer() view returns (address)",
]);

export const ensRegistryAbi = parseAbi([
  "function resolver(bytes32 node) view returns (address)",
  "function recordExists(bytes32 node) view returns (bool)",
  "function setSubnodeRecord(bytes32 node, bytes32 label, address owner, address resolver)",
]);

export const publicResolverAbi = parseAbi([
  "function addr(bytes32 node) view returns (address)",
  "function addr(bytes32 node, uint256 coinType) view returns (bytes)",
  "function name(bytes32 node) view returns (string)",
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function setAddr(bytes32 node, uint256 coinType, bytes a)",
]);

export const wildcardResolverAbi = parseAbi([
  "function resolve(bytes name, bytes data) view returns (bytes)",
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function setAddr(string label, uint256 coinType, bytes a)",
]);

export const reverseRegistrarAbi = parseAbi(["function setName(string name)"]);

export const blurExchangeAbi = parseAbi([
  "function nextHash() view returns (bytes32)",
  "function post(address collection, uint256 tokenId, uint256 price, bool isBid) returns (bytes32)",
  "function take(bytes32 hash) payable",
]);

export const sudoswapFactoryAbi = parseAbi([
  "function lastPool() view returns (address)",
  "function createPair(address collection, uint256 price) returns (address)",
]);

export const sudoswapPoolAbi = parseAbi([
  "function price() view returns (uint256)",
  "function swapTokenForSpecificNFTs(uint256[] ids) payable",
  "function swapNFTsForToken(uint256[] ids)",
]);
