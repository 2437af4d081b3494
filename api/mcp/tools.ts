import {
  cheapestListings,
  collectionTraits,
  findByText,
  floorAndDepth,
  topHolders,
} from "./collections.ts";
import { stateAtBlock } from "./points.ts";
import { prepareCancel, preparePurchase } from "./prepare.ts";
import { prepareListing, prepareOffer } from "./prepare-orders.ts";
import { heldTokens, tokenDetails } from "./tokens.ts";
import type { Tool } from "./tool.ts";
import { exposure, sales, transactionDetails } from "./trades.ts";

/** Every tool, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  findByText,
  floorAndDepth,
  collectionTraits,
  cheapestListings,
  tokenDetails,
  topHolders,
  heldTokens,
  stateAtBlock,
  sales,
  exposure,
  transactionDetails,
  preparePurchase,
  prepareListing,
  prepareOffer,
  prepareCancel,
];
