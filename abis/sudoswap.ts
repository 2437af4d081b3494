import { type Address, parseAbi } from "viem";

/** Factories of Ethereum, by version. */
export const sudoswapFactories = {
  "1": "0xb16c1342e617a5b6e4b631eb114483fdb289c0a4",
  "2": "0xa020d57ab0448ef74115c112d18a9c231cc86000",
} as const satisfies Record<string, Address>;

export const sudoswapV1FactoryEvents = parseAbi(["event NewPair(address pool)"]);

/** Of pools: neither tokens nor price. */
export const sudoswapV1PoolEvents = parseAbi(["event SwapNFTInPair()", "event SwapNFTOutPair()"]);

export const sudoswapV2FactoryEvents = parseAbi([
  "event NewERC721Pair(address indexed pool, uint256[] initialIds)",
  "event NewERC1155Pair(address indexed pool, uint256 initialBalance)",
]);

/** Of pools. The variants 0 and 2 are paid in ether, 1 and 3 in `token`, which the others do not have. */
export const sudoswapV2PairAbi = parseAbi([
  "function pairVariant() pure returns (uint8)",
  "function token() pure returns (address)",
]);

/** Of pools of either standard, since a later version with royalties. `In`: the pool buys. */
export const sudoswapV2PoolEvents = {
  erc721: parseAbi([
    "event SwapNFTInPair(uint256 amountOut, uint256[] ids)",
    "event SwapNFTOutPair(uint256 amountIn, uint256[] ids)",
  ]),
  erc1155: parseAbi([
    "event SwapNFTInPair(uint256 amountOut, uint256 numNFTs)",
    "event SwapNFTOutPair(uint256 amountIn, uint256 numNFTs)",
  ]),
  erc721WithRoyalty: parseAbi([
    "event SwapNFTInPair(uint256 amountOut, uint256[] ids, uint256 royaltyAmount)",
    "event SwapNFTOutPair(uint256 amountIn, uint256[] ids, uint256 royaltyAmount)",
  ]),
  erc1155WithRoyalty: parseAbi([
    "event SwapNFTInPair(uint256 amountOut, uint256 numNFTs, uint256 royaltyAmount)",
    "event SwapNFTOutPair(uint256 amountIn, uint256 numNFTs, uint256 royaltyAmount)",
  ]),
} as const;
